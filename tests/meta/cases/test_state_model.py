"""The model behind the stateful case: whom it blames, what it saves, how it shortens, what it remembers."""

import importlib.util
import itertools
import re
from pathlib import Path
from types import ModuleType

import pytest

from contracts.cases.sample_records import Samples
from contracts.cases.state_exploration import FOLDER, TOUR, Saved, candidates, narrow, steps_of
from contracts.cases.state_model import (
    LOOKS,
    Action,
    Change,
    Document,
    ReportedMembers,
    Step,
    content,
    folded,
    marker,
)
from contracts.interface.catalogue import Level, load_catalogue
from contracts.settings.target import RealmSettings

CHECKOUT = Path(__file__).parents[3]
CASE = CHECKOUT / "tests" / "contract" / "stateful" / "test_many_calls.py"
UID = "rc-abcd-0123456789"


@pytest.fixture(scope="module")
def case() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stateful_case", CASE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_clause_the_model_speaks_of_is_declared_by_the_case(case: ModuleType) -> None:
    """A claim on an undeclared clause breaks the suite, and some claims are reached only on a broken service."""
    known = {clause.id for clause in load_catalogue()}
    text = "".join(path.read_text("utf-8") for path in (CHECKOUT / "contracts" / "cases").glob("state_*.py"))
    spoken = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', text)) & known
    declared = {*case.DRAFTS, *case.LISTS, *case.ATTACHMENTS, *case.SUBMISSIONS}
    assert spoken == declared


def test_no_clause_of_the_model_is_silent(case: ModuleType) -> None:
    declared = [*case.DRAFTS, *case.LISTS, *case.ATTACHMENTS, *case.SUBMISSIONS]
    catalogue = load_catalogue()
    assert [name for name in declared if catalogue.clause(name).level is Level.SILENT] == []


def test_the_tour_plays_every_kind_of_step() -> None:
    assert {step.action for step in TOUR} == set(Action)


@pytest.mark.parametrize(
    ("happened", "clause"),
    [
        ([Change.CREATED], "draft-get-content"),
        ([Change.UPDATED, Change.NEIGHBOUR_SAVED], "draft-save-updates"),
        ([Change.NEIGHBOUR_SAVED], "draft-save-spares-others"),
        ([Change.NEIGHBOUR_SAVED, Change.NEIGHBOUR_DELETED], "draft-delete-spares-others"),
        ([Change.REFUSED_UPDATE], "workflow-refused-update-keeps-draft"),
        ([], "draft-get-content"),
    ],
)
def test_a_wrong_draft_speaks_against_what_happened_to_it(happened: list[Change], clause: str) -> None:
    assert Document("A", "author", UID, since=happened).suspect()[0] == clause


def test_a_draft_read_twice_and_wrong_the_second_time_speaks_against_its_last_save() -> None:
    document = Document("A", "author", UID)
    document.save(1, {}, None)
    document.save(2, {}, None)
    document.since = []
    assert document.suspect() == ("draft-save-updates", "getDraft")


TOLD = RealmSettings(contact_schema="person", contact_organization="org-0123456789", country_terms=("ke",))


def test_successive_contents_leave_out_different_members() -> None:
    contents = [content(Samples(TOLD, "abs-dev"), UID, version) for version in range(1, 7)]
    for earlier, later in itertools.pairwise(contents):
        assert earlier.keys() - later.keys()
        assert later.keys() - earlier.keys()


def test_a_content_is_told_from_every_other_by_its_marker() -> None:
    document = Document("A", "author", UID)
    for version in (1, 11, 111):
        document.save(version, content(Samples(TOLD, "abs-dev"), UID, version), None)
    assert document.shown_as(str(document.contents[11])) == [11]
    assert marker(UID, 1) not in str(document.contents[11])


def test_info_is_stale_only_where_the_service_itself_told_of_a_change() -> None:
    reported = ReportedMembers()
    reported.saved({"size": 10, "owner": "author", "etag": "a"}, update=False)
    reported.info_now = {"size": 10, "owner": "author", "etag": "other"}
    reported.saved({"size": 12, "owner": "author", "etag": "b"}, update=True)
    assert reported.stale({"size": 10, "owner": "author", "etag": "other"}) == ["size"]
    assert reported.stale({"size": 12, "owner": "author"}) == []
    assert reported.stale({}) == []


def test_nothing_told_of_a_deleted_draft_counts_for_a_new_one() -> None:
    reported = ReportedMembers()
    reported.saved({"size": 10}, update=False)
    reported.info_now = {"size": 10}
    reported.saved({"size": 12}, update=False)
    assert reported.stale({"size": 10}) == []


def test_candidates_end_in_the_step_that_showed_the_contradiction_and_begin_short() -> None:
    found = [*candidates(TOUR)]
    assert {candidate[-1] for candidate in found} == {TOUR[-1]}
    assert len(found[0]) == 2
    assert TOUR in found


def test_a_candidate_holds_the_latest_changes_of_the_document() -> None:
    steps = steps_of("save A, read A, save B, delete A, exists A, save A, read B, read A")
    assert steps_of("save A, delete A, save A, read A") in [*candidates(steps)]


def test_of_several_changes_the_guilty_one_is_found_by_reading_after_each() -> None:
    steps = steps_of("save A, read A, save B, info B, delete B, exists A")
    assert narrow(steps) == steps_of("save A, read A, save B, read A, delete B, read A, exists A")


def test_a_single_change_needs_no_narrowing() -> None:
    assert narrow(steps_of("save A, save B, read A, save B, read A")) is None
    assert narrow(steps_of("save A, save B, mydrafts A")) is None


def test_looks_change_nothing() -> None:
    changes = {Action.SAVE, Action.DELETE, Action.ATTACH, Action.SUBMIT_FAULTY}
    assert not LOOKS & changes


def test_saved_sequences_come_back_shortest_first(tmp_path: Path) -> None:
    saved = Saved(tmp_path, "sandbox", "abs-dev")
    long, short = steps_of("save A, delete A, save A, read A"), steps_of("save A, read A")
    saved.add(long)
    saved.add(short)
    assert Saved(tmp_path, "sandbox", "abs-dev").load() == [short, long]
    saved.remove(short)
    assert saved.load() == [long]


def test_sequences_of_another_target_or_realm_are_not_played(tmp_path: Path) -> None:
    Saved(tmp_path, "dev", "abs-dev").add(steps_of("save A, read A"))
    assert Saved(tmp_path, "sandbox", "abs-dev").load() == []
    assert Saved(tmp_path, "dev", "bch-dev").load() == []


@pytest.mark.parametrize(
    "entry", [b"", b"\xff", b"[]", b"{}", b'[["flyDraft", "A"]]', b'[["getDraft", "Z"]]', b"[1]"]
)
def test_entries_of_another_version_are_passed_over(tmp_path: Path, entry: bytes) -> None:
    saved = Saved(tmp_path, "sandbox", "abs-dev")
    saved.add(steps_of("save A, read A"))
    folder = next(
        path for path in (tmp_path / FOLDER).glob("*/*") if path.read_bytes().startswith(b"[[")
    ).parent
    (folder / "foreign").write_bytes(entry)
    assert saved.load() == [steps_of("save A, read A")]


def test_repeated_words_are_counted() -> None:
    assert folded(["a", "a", "b", "a"]) == ["a x2", "b", "a"]


def test_a_list_step_names_whose_list_it_is() -> None:
    assert str(Step(Action.MYDRAFTS, "C")) == "listDrafts mydrafts of other"
