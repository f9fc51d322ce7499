"""A recording that was spoilt accuses nobody of what it does not show; SPOILT_RECORDINGS sets how many are tried."""

import copy
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contracts.manual.check import CheckOptions, check_archive
from contracts.manual.traffic_findings import Side, Standing, Tally
from tests.meta.manual.client_tour import watched
from tests.meta.manual.spoilt_recordings import INCOMPLETE, SPOILS, Entry, recorded, spoilt

COUNT = int(os.environ.get("SPOILT_RECORDINGS", "60"))


def checked(entries: list[Entry], folder: Path, *, alone: bool) -> Tally:
    path = folder / "spoilt.har"
    path.write_text(json.dumps({"log": {"entries": entries}}), "utf-8")
    return check_archive(path, path.name, CheckOptions(alone=alone))[0]


def accusations(tally: Tally) -> set[tuple[Any, ...]]:
    """What is said to be broken, by either side; a remark accuses nobody."""
    return {
        (group.first.side, group.first.what, group.first.fault)
        for group in tally.groups
        if group.first.standing is not Standing.REMARK
    }


def test_a_spoilt_recording_of_a_faithful_service_accuses_nobody(tmp_path: Path) -> None:
    true = recorded(watched(short=True).exchanges, tmp_path)
    whole = checked(true, tmp_path, alone=True)
    assert {side for side, *_ in accusations(whole)} <= {Side.REQUEST}, "the tour's own mistakes"
    assert len(whole.held) > 20
    more = {}
    for seed in range(COUNT):
        names, entries = spoilt(seed, true)
        tally = checked(entries, tmp_path, alone=not INCOMPLETE & set(names))
        more[seed, *names] = accusations(tally) - accusations(whole), tally.breakages
    assert {key: shown for key, shown in more.items() if any(shown)} == {}


#: Breaks what a sequence shows, what the bytes of a file show, and what one exchange shows by itself.
FAULTS = {
    "draft-content-empty": "draft-get-content",
    "attachment-last-byte-lost": "attachment-download-same",
    "contact-create-without-first-name": "contact-mandatory-first-name",
}
#: What these leave of a recording shows as much as before.
HARMLESS = (
    "shuffled",
    "reversed",
    "base64 unsaid",
    "from a cache",
    "without length",
    "another zone",
)


@pytest.mark.parametrize(("fault", "clause"), FAULTS.items())
def test_what_a_faulty_service_shows_remains(tmp_path: Path, fault: str, clause: str) -> None:
    true = recorded(watched(fault=fault, short=True).exchanges, tmp_path)
    told = (Side.ANSWER, clause, None)
    assert told in accusations(checked(true, tmp_path, alone=True))
    for seed, name in enumerate(HARMLESS):
        entries = SPOILS[name](Random(seed), copy.deepcopy(true))  # noqa: S311 - the same each time
        assert told in accusations(checked(entries, tmp_path, alone=True)), name
