"""`replay`: a recorded sequence sent again on fresh data, here, on another machine's artifact, in another realm."""

import json
import zipfile
from pathlib import Path

import pytest

from contracts.manual.replay import Outcome, Replayed, together
from tests.meta.manual.sample_traffic import entry
from tests.meta.program import RunCommand


def saved(command: RunCommand, folder: Path, *words: object) -> Path:
    """Call an operation by hand and return the file that keeps it."""
    path = folder / "call.json"
    ended = command("call", *words, "--save", path)
    assert path.is_file(), ended
    return path


def as_finding(path: Path, **members: object) -> Path:
    """Make a finding of a saved call, as a run writes it."""
    content = {"id": "0123456789", "seen": "201", "rate": [2, 2], **json.loads(path.read_text()), **members}
    finding = path.with_name("0123456789.json")
    finding.write_text(json.dumps(content))
    return finding


@pytest.fixture
def short(command: RunCommand, broken: Path, tmp_path: Path) -> Path:
    """Return a finding of the broken sandbox: it takes a uid of ten characters."""
    path = saved(command, tmp_path, "saveDraft", "--invalid", "path.uid:too-short", "--target", broken)
    words = {"clause": "uid-too-short", "operation": "saveDraft", "expected": "refused (4xx)"}
    return as_finding(path, **words, check="refused", arguments={})


def test_a_finding_comes_back_where_it_was_found(command: RunCommand, broken: Path, short: Path) -> None:
    ended = command("replay", short, "--target", broken)
    assert ended.code == 1
    assert "reproduced in 3 of 3 rounds (then: 2 of 2)" in ended.out
    assert "judged by   the check refused" in ended.out
    assert "finding     uid-too-short (must)" in ended.out


def test_it_goes_to_its_own_target_or_nowhere(
    command: RunCommand, broken: Path, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = command("replay", short)
    assert refused.code == 4
    assert "whose settings are not found here; name with --target where to send it" in refused.err
    content = json.loads(short.read_text())
    line = f"registry-contracts run --target {broken} --clause uid-too-short"
    short.write_text(json.dumps({**content, "reproduce": {"command": line, "curl": []}}))
    assert command("replay", short, "--times", 1).code == 1
    monkeypatch.setenv("REGISTRY_BASE_URL", content["target"]["base_url"])
    monkeypatch.setenv("REGISTRY_EMAIL", "author@sandbox.test")
    monkeypatch.setenv("REGISTRY_PASSWORD", "sandbox-author")
    short.write_text(json.dumps(content))
    assert "which environment lacks" in command("replay", short, "--times", 1).err


def test_it_does_not_come_back_on_a_service_that_keeps_the_clause(
    command: RunCommand, faithful: Path, short: Path
) -> None:
    ended = command("replay", short, "--target", faithful)
    assert ended.code == 0
    assert "not reproduced in 3 rounds" in ended.out
    assert "differs" in ended.out


def test_a_finding_of_an_earlier_version_is_compared_with_its_recording(
    command: RunCommand, broken: Path, tmp_path: Path
) -> None:
    path = saved(command, tmp_path, "listDrafts", "--target", broken)
    old = as_finding(path, clause="list-answers", operation="listDrafts", expected="a list")
    ended = command("replay", old, "--target", broken, "--times", 1)
    assert "judged by   comparing the answers with the recorded ones" in ended.out
    assert "reproduced in 1 of 1 round" in ended.out


def test_it_is_sent_in_another_realm(command: RunCommand, broken: Path, short: Path) -> None:
    ended = command("replay", short, "--target", broken, "--realm", "chm-dev", "--times", 1, "--json")
    content = json.loads(ended.out)
    assert (content["outcome"], content["realm"], content["rate"]) == ("reproduced", "chm-dev", [1, 1])
    (curl,) = [each["curl"] for each in content["rounds"][0]["exchanges"]]
    assert "Realm: chm-dev" in curl
    assert "organization-chm-dev" in curl
    assert "abs-dev" not in curl


def test_data_is_fresh_in_every_round(command: RunCommand, broken: Path, short: Path) -> None:
    content = json.loads(command("replay", short, "--target", broken, "--json").out)
    curls = {each["exchanges"][0]["curl"] for each in content["rounds"]}
    old = json.loads(short.read_text())["sequence"][0]["request"]["url"].partition("/documents/")[2][:10]
    assert len(curls) == 3
    assert not any(old in curl for curl in curls)


def test_ids_that_the_service_gives_are_carried_over(
    command: RunCommand, broken: Path, faithful: Path, tmp_path: Path
) -> None:
    command("call", "createAttachment", "--target", faithful)  # so that the next id is another one
    path = saved(command, tmp_path, "getAttachment", "--target", broken)
    kept = json.loads(path.read_text())
    whether_drafts_take_files = ["saveDraft", "createAttachment"]
    assert [each["operation"] for each in kept["arranged"]] == [
        *whether_drafts_take_files,
        "saveDraft",
        "createAttachment",
        "attachmentExists",
    ]
    ended = command("replay", path, "--target", faithful, "--times", 1, "--json")
    content = json.loads(ended.out)
    assert (ended.code, content["outcome"]) == (0, "reproduced"), content


def test_an_artifact_of_another_machine_replays(
    command: RunCommand, broken: Path, short: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "nightly.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("0123456789", "abcdef0123"):
            file.writestr(f"20300101-sandbox/findings/{name}.json", short.read_text())
    several = command("replay", archive, "--target", broken)
    assert several.code == 4
    assert "--finding: 0123456789 (uid-too-short in abs-dev), abcdef0123" in several.err
    assert command("replay", archive, "--finding", "abc", "--target", broken, "--times", 1).code == 1


def deflated(path: Path) -> bytes:
    """A zip with one finding, packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("findings/0123456.json", "{}" * 500)
    return path.read_bytes()


@pytest.mark.parametrize("problem", ["locked", "altered", "unknown packing", "lzma"])
def test_a_zip_that_cannot_be_unpacked_is_one_line(command: RunCommand, tmp_path: Path, problem: str) -> None:
    archive = tmp_path / "nightly.zip"
    content = bytearray(deflated(archive))
    directory = content.rindex(b"PK\x01\x02")
    if problem == "locked":
        content[6] |= 1
        content[directory + 8] |= 1
    elif problem == "altered":
        content[content.index(b".json") + 5] = 0xFF
    else:
        content[8] = content[directory + 10] = 14 if problem == "lzma" else 99
    archive.write_bytes(content)
    ended = command("replay", archive, "--target", "sandbox")
    assert ended.code == 4, ended.out + ended.err
    (line,) = ended.err.splitlines()
    assert f"{archive}: cannot be unpacked: " in line


def test_a_finding_is_found_by_its_id(command: RunCommand, broken: Path, short: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "20300101-sandbox" / "findings"
    folder.mkdir(parents=True)
    (folder / short.name).write_text(short.read_text())
    assert (
        command("replay", "0123", "--reports", tmp_path / "runs", "--target", broken, "--times", 1).code == 1
    )
    assert command("replay", folder.parent, "--target", broken, "--times", 1).code == 1
    absent = command("replay", "0133456789", "--reports", tmp_path / "runs", "--target", broken)
    assert (absent.code, "did you mean '0123456789'?" in absent.err) == (4, True)


def har(path: Path) -> Path:
    base = "https://registry.example.test/api/v2013/documents/browser-made-42/versions/draft"
    own = {"Authorization": "Bearer a-token-of-somebody", "Realm": "abs-dev", "Cookie": "session=1"}
    own["Content-Type"] = "application/json"
    headers = [{"name": name, "value": value} for name, value in own.items()]
    entries = [
        entry("GET", "https://registry.example.test/app.js", 200, ""),
        entry("PUT", f"{base}?schema=contact", 201, "", sent='{"firstName": "Ada"}', headers=headers),
        entry("HEAD", base, 200, "", headers=headers),
    ]
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


def test_a_har_replays_in_the_namespace_of_the_suite(
    command: RunCommand, faithful: Path, tmp_path: Path
) -> None:
    ended = command("replay", har(tmp_path / "browser.har"), "--target", faithful, "--json")
    content = json.loads(ended.out)
    exchanges = content["rounds"][0]["exchanges"]
    assert [each["is"] for each in exchanges] == [201, 200]
    assert all("/documents/rc-" in each["curl"] and "$TOKEN" in each["curl"] for each in exchanges)
    assert "a-token-of-somebody" not in ended.out
    assert "session=1" not in ended.out
    one = command(
        "replay", tmp_path / "browser.har", "--entries", "3", "--target", faithful, "--times", 1, "--json"
    )
    assert [each["operation"] for each in json.loads(one.out)["rounds"][0]["exchanges"]] == ["draftExists"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("cut.har", '{"log": {"entries": [{"request": {"me', "was cut short"),
        ("other.har", '{"log": {}}', "no list log.entries"),
        ("cut.json", '{"sequence": [', "was cut short, at line 1"),
        ("other.json", '{"a": 1}', "is no finding"),
        ("text.json", "hello", "is not JSON"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    command: RunCommand, tmp_path: Path, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content)
    ended = command("replay", name)
    assert (ended.code, ended.out) == (4, "")
    (line,) = ended.err.splitlines()
    assert why in line


def test_a_target_that_is_down_decides_nothing(
    command: RunCommand, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.loads(short.read_text())
    down = {**content["target"], "base_url": "http://127.0.0.1:9"}
    short.write_text(json.dumps({**content, "target": down}))
    monkeypatch.setenv("REGISTRY_BASE_URL", down["base_url"])
    monkeypatch.setenv("REGISTRY_EMAIL", "somebody@example.test")
    monkeypatch.setenv("REGISTRY_PASSWORD", "correct-horse")
    ended = command("replay", short)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (6, "", 1)


def test_rounds_are_put_together() -> None:
    def rounds(*outcomes: Outcome) -> list[Replayed]:
        return [Replayed([], outcome, "") for outcome in outcomes]

    again, gone, spoilt = Outcome.REPRODUCED, Outcome.NOT, Outcome.UNDECIDED
    assert together(rounds(again, again)) == (Outcome.REPRODUCED, 2, 2)
    assert together(rounds(again, gone, gone)) == (Outcome.INTERMITTENT, 1, 3)
    assert together(rounds(gone, spoilt)) == (Outcome.NOT, 0, 1)
    assert together(rounds(spoilt)) == (Outcome.UNDECIDED, 0, 0)


def test_a_finding_of_a_run_replays(command: RunCommand, broken: Path, tmp_path: Path) -> None:
    """The whole way: a run finds something, and its folder is all that a colleague needs."""
    words = ("--clause", "list-top", "--operation", "listDrafts", "--realm", "bch-dev", "--target", broken)
    run = command("run", *words, "--reports", tmp_path / "night", "--history", "off")
    assert run.code == 1, run.out
    ended = command("replay", tmp_path / "night" / "latest", "--target", broken, "--times", 1)
    assert (ended.code, "reproduced in 1 of 1 round" in ended.out) == (1, True), ended.out
