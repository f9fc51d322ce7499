"""Variants are chosen by name on the command line, alone and together, and defects are laid over them."""

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.serve import altered
from contracts.sandbox.variants import ALL, COMBINATIONS, chosen, help_text
from tests.meta.samples import draft_path
from tests.meta.sandbox_client import new_uid


def sandbox(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "contracts.sandbox", "--port", "0", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def test_there_are_many_variants_and_some_combinations_of_them() -> None:
    assert len(ALL) >= 24
    assert len(COMBINATIONS) >= 4
    assert not ALL.keys() & COMBINATIONS.keys()


@pytest.mark.parametrize("name", COMBINATIONS)
def test_a_combination_names_variants_and_each_once(name: str) -> None:
    members = COMBINATIONS[name]
    assert set(members) <= ALL.keys()
    assert len(set(members)) == len(members) > 1


def test_every_variant_stands_in_a_combination() -> None:
    """The proof meets combinations whole on every seed, and variants by themselves only in turns."""
    assert ALL.keys() == {name for members in COMBINATIONS.values() for name in members}


def test_each_sentence_is_one_sentence_of_its_own() -> None:
    sentences = [variant.sentence for variant in ALL.values()]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_habits_of_a_variant_are_habits() -> None:
    for variant in ALL.values():
        assert vars(Habits()).keys() >= variant.habits.keys(), variant.name


def test_the_list_shows_every_variant_and_combination() -> None:
    shown = sandbox("--variant", "list")
    assert (shown.returncode, shown.stdout) == (0, help_text())
    assert all(f"  {name}\n" in shown.stdout for name in [*ALL, *COMBINATIONS])


def test_an_unknown_name_is_one_line_with_a_suggestion() -> None:
    refused = sandbox("--variant", "list-doc")
    assert refused.returncode == 4
    assert refused.stderr == "sandbox: unknown variant 'list-doc'; did you mean 'list-docs'?\n"


def test_a_name_like_no_other_points_to_the_list() -> None:
    with pytest.raises(UsageError, match="--variant list shows them all"):
        chosen(["xyzzy"])


def test_the_later_variant_counts_where_two_change_one_habit() -> None:
    assert chosen(["faults-422", "faults-409"]).habits().validation_status == 409


def test_variants_share_a_part_without_pushing_each_other_out(client_of: Callable[..., Any]) -> None:
    client = client_of("list-docs", "id-in-location", "message-in-array")
    saved = client.save(new_uid())
    assert (saved.content, "Location" in saved.headers) == (b"", True)
    assert "response" in client.drafts().json()
    assert "messages" in client.request("GET", draft_path(new_uid())).json()


def test_no_variant_leaves_the_sandbox_as_it_is() -> None:
    service = altered(Settings()).state.service
    assert service.habits == Habits()
    assert type(service.answers).__module__ == "contracts.sandbox.answers"


def test_a_defect_is_laid_over_the_finished_service(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[tuple[str, Any]] = []

    class Defect:
        def __init__(self, name: str) -> None:
            self.name = name

        def apply(self, service: Any) -> None:
            applied.append((self.name, service))

    package = ModuleType("contracts.sandbox.defects")
    package.load = Defect  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "contracts.sandbox.defects", package)
    app = altered(Settings(variants=("list-docs",), defects=("draft-lost",)))
    assert applied == [("draft-lost", app.state.service)]


def test_data_on_disk_can_be_served_by_a_variant_twice(
    tmp_path: Any, start_sandbox: Callable[..., Any], caller: Any
) -> None:
    options = ("--data", str(tmp_path), "--variant", "lists-late", "--variant", "attachment-id-large")
    first = start_sandbox(*options)
    path = "/api/v2013/documents/variant-on-disk/versions/draft"
    assert caller(url=first.url).put(path, params={"schema": "contact"}, json={}).status_code == 201
    assert first.stop() == 0
    assert caller(url=start_sandbox(*options).url).get(path).status_code == 200
