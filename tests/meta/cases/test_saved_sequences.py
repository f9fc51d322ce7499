"""A gate plays what was saved before and changes nothing of it, so that the next gate plays the same."""

from pathlib import Path

from contracts.cases.state_exploration import Saved
from contracts.cases.state_model import Action, Step

EARLIER, LATER = (Step(Action.SAVE, "A"),), (Step(Action.SAVE, "A"), Step(Action.DELETE, "A"))


def test_a_gate_keeps_what_it_finds_for_itself(tmp_path: Path) -> None:
    reports, scratch = tmp_path / "reports", tmp_path / "scratch"
    Saved(reports, "dev", "abs-dev").add(EARLIER)
    gate = Saved(reports, "dev", "abs-dev", scratch)
    gate.add(LATER)
    gate.remove(EARLIER)
    assert Saved(reports, "dev", "abs-dev", scratch).load() == [EARLIER, LATER]
    assert Saved(reports, "dev", "abs-dev").load() == [EARLIER]
