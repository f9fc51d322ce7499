"""An exit code never lies: whatever the machine does, a command ends as what it found out, or as 3 in one line."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

from filelock import FileLock

from tests.meta.hostile.probe import (
    NASTY,
    SHORT_RUN,
    START,
    TINY_RUN,
    Ended,
    Running,
    Skipped,
    command,
    descriptor,
    expect,
    file_limit,
    honest,
    memory_limit,
    probe,
    run_folders,
)
from tests.meta.hostile.service import Service, accounts, altered

GROUP = "exit codes"
#: Sizes that let through next to nothing, the first file, most of the journal, all but the largest reports.
SIZES = (100, 1_000, 20_000, 200_000)
#: Commands that only print.
PRINTING = (("list", "clauses"), ("--help",), ("list", "runs"), ("explain", "token-issued"))


def _older_run(folder: Path) -> Path:
    """A reports folder whose `latest` leads to an older run that passed."""
    reports = folder / "reports"
    (reports / "20200101-000000-old").mkdir(parents=True)
    (reports / "latest").symlink_to("20200101-000000-old")
    return reports


def _leads_on(reports: Path) -> bool:
    latest = reports / "latest"
    return latest.is_symlink() and latest.readlink().name == "20200101-000000-old"


def _limited(folder: Path, size: int) -> None:
    reports = _older_run(folder)
    honest(command(folder, *TINY_RUN, limit=file_limit(size)), 3, lines=4)
    expect(not _leads_on(reports), "latest goes on leading to an older run")


for size in SIZES:
    probe(GROUP, f"run: no file may be larger than {size:,} bytes")(partial(_limited, size=size))


def _left_behind(service: Service) -> set[str]:
    """Paths of drafts that were saved and not deleted after that."""
    left: set[str] = set()
    for asked in service.asked:
        path = asked.path.partition("?")[0]
        if asked.method == "PUT" and path.endswith("/versions/draft"):
            left.add(path)
        elif asked.method == "DELETE":
            left.discard(path)
    return left


def _cleaned_up(folder: Path, size: int, more: tuple[str, ...] = ()) -> str:
    with altered(lambda _, given: given) as service:
        words = (*SHORT_RUN, *more, "--target", str(service.settings(folder)))
        honest(command(folder, *words, limit=file_limit(size), environment=accounts()), 3, lines=4)
        expect(not _left_behind(service), f"leaves {sorted(_left_behind(service))[:2]}")
    return f"{len(service.asked)} requests"


for size in (60_000, 120_000, 250_000):
    probe(GROUP, f"run: no file may be larger than {size:,} bytes; its drafts are removed")(
        partial(_cleaned_up, size=size)
    )


probe(GROUP, "run with two workers: no file may be larger than 60,000 bytes; its drafts are removed")(
    partial(_cleaned_up, size=60_000, more=("--workers", "2"))
)


@probe(GROUP, "run: the disk is full")
def _full_disk(folder: Path) -> None:
    reports = _older_run(folder)
    mounted = f"mount -t tmpfs -o size=300k none {reports} && cp -a {folder}/kept/. {reports}/"
    shutil.copytree(reports, folder / "kept", symlinks=True)
    script = folder / "in-namespace.sh"
    script.write_text(f'{mounted} && "$@"; code=$?; readlink {reports}/latest > {folder}/leads; exit $code\n')
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode:
        raise Skipped("no name spaces here")
    done = subprocess.run(
        [unshare, "-rm", "sh", str(script), sys.executable, *START, *TINY_RUN],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    honest(Ended(done.returncode, done.stdout, done.stderr), 3, lines=4)
    expect("old" not in (folder / "leads").read_text(), "latest goes on leading to an older run")


@probe(GROUP, "run: the reports folder goes while it runs")
def _removed_reports(folder: Path) -> None:
    reports = folder / "reports"

    def remove(process: Running) -> None:
        while process.poll() is None and not list(reports.glob("*/journal-main.jsonl")):
            time.sleep(0.05)
        time.sleep(0.5)
        shutil.rmtree(reports, ignore_errors=True)

    honest(command(folder, *SHORT_RUN, meanwhile=remove), 3, lines=4)


@probe(GROUP, "run: the output takes nothing; the verdict counts")
def _full_output(folder: Path) -> None:
    honest(command(folder, *TINY_RUN, out=descriptor("/dev/full")), 0)
    (run,) = run_folders(folder / "reports")
    expect((run / "verdict.json").exists() and (run / "index.html").exists(), "there are no reports")


@probe(GROUP, "run: nobody reads the output; the verdict counts")
def _closed_pipe(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        honest(command(folder, *TINY_RUN, out=writing), 0)
    finally:
        os.close(writing)


def _printing(folder: Path, words: tuple[str, ...]) -> None:
    honest(command(folder, *words, out=descriptor("/dev/full")), 3)


for words in PRINTING:
    probe(GROUP, f"{' '.join(words)}: the output takes nothing")(partial(_printing, words=words))


def _without_folder(folder: Path, words: tuple[str, ...], codes: tuple[int, ...]) -> None:
    gone = folder / "gone"
    gone.mkdir()
    honest(command(folder, *words, limit=gone.rmdir, cwd=gone), *codes)


for started, codes in {
    TINY_RUN: (3,),
    ("call", "listDrafts"): (3, 0),
    ("init",): (3, 4),
    ("doctor",): (3, 4),
}.items():
    probe(GROUP, f"{started[0]}: the current folder is gone")(
        partial(_without_folder, words=started, codes=codes)
    )


def _optimised(folder: Path, how: dict[str, str], python: tuple[str, ...]) -> None:
    ended = honest(command(folder, *TINY_RUN, python=python, environment=how, fresh=True), 4)
    expect("assertions" in ended.err, "does not say why")


probe(GROUP, "run: python -O")(partial(_optimised, how={}, python=("-O",)))
probe(GROUP, "run: PYTHONOPTIMIZE")(partial(_optimised, how={"PYTHONOPTIMIZE": "1"}, python=()))


#: When a signal comes: the first file that is there by then, and the seconds after that.
MOMENTS = {
    "as its folder is made": ("reports/*/", 0.0),
    "as its journal begins": ("reports/*/journal-main.jsonl", 0.0),
    "a moment later": ("reports/*/journal-main.jsonl", 0.2),
    "in its first cases": ("reports/*/journal-main.jsonl", 2.0),
}


def _signalled(
    folder: Path, number: signal.Signals, moment: tuple[str, float], words: tuple[str, ...]
) -> None:
    def send(process: Running) -> None:
        sign, later = moment
        while process.poll() is None and not list(folder.glob(sign)):
            time.sleep(0.01)
        time.sleep(later)
        # A terminal that is closed tells all processes of the run.
        os.killpg(process.pid, number) if number == signal.SIGHUP else process.send_signal(number)

    def alone() -> None:
        os.setsid()
        signal.signal(
            signal.SIGHUP, signal.SIG_DFL
        )  # ignored where the probes run in the background of a script

    ended = honest(command(folder, *SHORT_RUN, *words, limit=alone, meanwhile=send), 2, lines=4)
    runs = run_folders(folder / "reports")
    # The embedded sandbox may go with the others while it starts: then there is no run.
    expect(runs or "cannot begin" in ended.all, "there is no run")
    for run in runs:
        verdict = json.loads((run / "verdict.json").read_text("utf-8"))
        expect(verdict["verdict"] == "interrupted", verdict["verdict"])


WORKERS: dict[str, tuple[str, ...]] = {"": (), " with two workers": ("--workers", "2")}
for number, when, how in product((signal.SIGTERM, signal.SIGHUP), MOMENTS, WORKERS):
    probe(GROUP, f"run{how}: {number.name} {when}")(
        partial(_signalled, number=number, moment=MOMENTS[when], words=WORKERS[how])
    )


@probe(GROUP, "run: under nohup, the terminal is closed")
def _nohup(folder: Path) -> None:
    def send(process: Running) -> None:
        time.sleep(3.0)
        process.send_signal(signal.SIGHUP)

    def ignoring() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    honest(command(folder, *TINY_RUN, limit=ignoring, meanwhile=send), 0)


@probe(GROUP, "run: the lock of the history is held by another")
def _history_lock(folder: Path) -> None:
    (folder / "reports").mkdir()
    with FileLock(folder / "reports" / ".history.jsonl.lock"):
        ended = honest(command(folder, *TINY_RUN), 0)
    expect("another run holds its lock" in ended.all, "does not say that the history lacks this run")


#: Words that a command cannot use, with a nasty text where it would quote it.
MISUSED: tuple[tuple[str, ...], ...] = (
    ("run", "--realm"), ("run", "--clause"), ("run", "--target"), ("run", "--profile"), ("gate", "--consumer"),
    ("call",), ("explain",), ("list",), ("check",), ("drift", "show", "--baseline"),
    ("doctor", "--target"),
    ("list", "runs"), ("sweep", "--target"), ("init",), (),
)  # fmt: skip


def _misused(folder: Path, words: tuple[str, ...]) -> str:
    text = "".join(text for text in NASTY if "\0" not in text)
    word = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return f"exit {honest(command(folder, *words, word), 4, lines=4).code}"


for misused in MISUSED:
    probe(GROUP, f"{' '.join(misused) or 'no command'}: nasty texts among its words")(
        partial(_misused, words=misused)
    )


def _open_files(number: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))


#: What a process may not have, and how the run may end; None is the usual end.
POOR: dict[str, Callable[[], None]] = {
    "12 open files": _open_files(12),
    "20 open files": _open_files(20),
    "40 open files": _open_files(40),
    "200 MB of memory": memory_limit(200 << 20),
    "400 MB of memory": memory_limit(400 << 20),
}


def _poor(folder: Path, limit: Callable[[], None]) -> str:
    return f"exit {honest(command(folder, *TINY_RUN, limit=limit), 0, 3, 4, 6, lines=4).code}"


for name, poverty in POOR.items():
    probe(GROUP, f"run: {name}")(partial(_poor, limit=poverty))


def _closed(folder: Path, descriptors: tuple[int, ...]) -> None:
    def close() -> None:
        for each in descriptors:
            os.close(each)

    ended = command(folder, *TINY_RUN, limit=close)
    expect(ended.code == 0, f"exit {ended.code}: {ended.all[-200:]}")


for descriptors in ((0,), (1,), (2,), (0, 1, 2)):
    probe(GROUP, f"run: descriptors {', '.join(map(str, descriptors))} are closed")(
        partial(_closed, descriptors=descriptors)
    )


def _folder_of_runs(folder: Path, name: str, place: Callable[[Path], None], codes: tuple[int, ...]) -> str:
    reports = folder / "reports"
    place(reports)
    # What a tiny run is narrowed by keeps it out of the history.
    ended = honest(command(folder, *(SHORT_RUN if "history" in name else TINY_RUN)), *codes, lines=4)
    latest = reports / "latest"
    expect(not latest.is_symlink() or latest.resolve().is_dir(), "latest leads nowhere")
    return f"exit {ended.code}"


def _with(name: str, make: Callable[[Path], None]) -> Callable[[Path], None]:
    def place(reports: Path) -> None:
        reports.mkdir()
        make(reports / name)

    return place


#: What lies where a run wants to write, and how it may end.
IN_THE_WAY: dict[str, tuple[Callable[[Path], None], tuple[int, ...]]] = {
    "the reports folder is a file": (Path.touch, (3, 4)),
    "the reports folder is a link to itself": (lambda path: path.symlink_to(path.name), (3, 4)),
    "the reports folder is a link to nothing": (lambda path: path.symlink_to("nowhere"), (0, 3, 4)),
    "the reports folder is a pipe": (os.mkfifo, (3, 4)),
    # A folder there was made by a person; nothing may lead to an older run, so that it is the suite that could not end.
    "latest is a folder": (_with("latest", Path.mkdir), (3,)),
    "latest is a link to itself": (_with("latest", lambda path: path.symlink_to(path.name)), (0,)),
    "the history is a folder": (_with("history.jsonl", Path.mkdir), (0, 3, 4)),
    "the history is a pipe": (_with("history.jsonl", os.mkfifo), (0, 3, 4)),
    "the history is a device": (_with("history.jsonl", lambda path: path.symlink_to("/dev/zero")), (0, 3, 4)),
    "the history's lock is a pipe": (_with(".history.jsonl.lock", os.mkfifo), (0, 3, 4)),
    "the history's lock is a folder": (_with(".history.jsonl.lock", Path.mkdir), (0, 3, 4)),
}
for name, (place, codes) in IN_THE_WAY.items():
    probe(GROUP, f"run: {name}")(partial(_folder_of_runs, name=name, place=place, codes=codes))


@probe(GROUP, "run: the temporary folder is not there")
def _no_temporary_folder(folder: Path) -> str:
    ended = honest(command(folder, *TINY_RUN, environment={"TMPDIR": str(folder / "nowhere")}), 0, 3, 4)
    return f"exit {ended.code}"


@probe(GROUP, "run: the output is ASCII alone")
def _ascii(folder: Path) -> str:
    more = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    return f"exit {honest(command(folder, *TINY_RUN, environment=more, fresh=True), 0).code}"


@probe(GROUP, "run: a name of a folder that a terminal would obey")
def _nasty_folder(folder: Path) -> str:
    place = folder / "\x1b[2J\u202ex\n::error::forged"
    place.mkdir()
    return f"exit {honest(command(folder, *TINY_RUN, cwd=place), 0).code}"


def _while_it_runs(folder: Path, meddle: Callable[[Path, Running], None], codes: tuple[int, ...]) -> str:
    def wait(process: Running) -> None:
        while process.poll() is None and not list(folder.glob("reports/*/journal-main.jsonl")):
            time.sleep(0.02)
        time.sleep(1.0)
        if process.poll() is None:
            meddle(folder, process)

    return f"exit {honest(command(folder, *SHORT_RUN, meanwhile=wait), *codes, lines=4).code}"


def _empty_the_journal(folder: Path, _: Running) -> None:
    for path in folder.glob("reports/*/journal-main.jsonl"):
        os.truncate(path, 0)


def _remove_the_ledger(folder: Path, _: Running) -> None:
    for path in folder.glob("reports/*/ledger*.jsonl"):
        path.unlink()


def _remove_private_folders(folder: Path, _: Running) -> None:
    for path in (folder / "tmp").iterdir():
        shutil.rmtree(path, ignore_errors=True)


def _end_children(_: Path, process: Running) -> None:
    for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
        for child in path.read_text().split():
            os.kill(int(child), signal.SIGKILL)


def _rest(_: Path, process: Running) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(3.0)
    process.send_signal(signal.SIGCONT)


#: What a neighbour does meanwhile, and how the run may end.
NEIGHBOURS: dict[str, tuple[Callable[[Path, Running], None], tuple[int, ...]]] = {
    "empties the journal": (_empty_the_journal, (3, 4)),
    "removes the ledger": (_remove_the_ledger, (0, 3)),
    "clears the temporary folder": (_remove_private_folders, (0, 3, 6)),
    "kills the embedded sandbox": (_end_children, (6,)),
    "stops the run for three seconds": (_rest, (0,)),
}
for name, (meddle, codes) in NEIGHBOURS.items():
    probe(GROUP, f"run: a neighbour {name}")(partial(_while_it_runs, meddle=meddle, codes=codes))
