"""What is put right again and again at one place is told; what weather does everywhere is not."""

import pytest

from contracts.evidence.repairs import repeated_repairs
from contracts.session.authentication import ENDED_EARLY
from contracts.session.recording import FaultEvent

BUSY = "status 503"


def test_tokens_that_end_early_are_told_wherever_they_do() -> None:
    faults = [FaultEvent(ENDED_EARLY, "abs-dev", name) for name in ("a", "b", "c")]
    assert "token-lasts-until-expiration" in "".join(repeated_repairs(faults, ["abs-dev"]))


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([("getDraft", "abs-dev"), ("getDraft", "bch-dev"), ("getDraft", "abs-dev")], "from getDraft alone"),
        ([("getDraft", "abs-dev"), ("listDrafts", "abs-dev")] * 5, "in abs-dev alone"),
        ([("getDraft", "abs-dev"), ("listDrafts", "abs-dev")] * 4, ""),
        ([("getDraft", "abs-dev")] * 2, ""),
        ([("getDraft", "abs-dev"), ("listDrafts", "bch-dev"), ("saveDraft", "abs-dev")], ""),
        ([(None, "abs-dev")] * 3, ""),
        ([], ""),
    ],
)
def test_what_comes_often_from_one_place_is_told(places: list[tuple[str | None, str]], told: str) -> None:
    faults = [FaultEvent(BUSY, realm, operation) for operation, realm in places]
    lines = list(repeated_repairs(faults, ["abs-dev", "bch-dev"]))
    assert len(lines) == bool(told)
    assert all(told in line and line.startswith(f"{BUSY}: {len(places)} times") for line in lines)
