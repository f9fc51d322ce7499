"""A run leaves to pytest, and to other plugins of it, what is theirs."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.meta.plugin.rules import hiding

pytestmark = pytest.mark.usefixtures("nothing_left")

OWN = '''
from registry_contracts.cases.marks import contract

@contract("draft-get-content")
def test_own(world, expect, record_property):
    """A case with a property of its own."""
    draft = world.draft()
    record_property("ticket", draft.uid)
    expect("draft-get-content").shows(world.author.get_draft(draft.uid), draft.document)
'''


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_properties_that_a_case_records_are_those_of_the_attempt_that_speaks_for_it(
    run: Any, faulty: Callable[..., Any], workers: tuple[str, ...]
) -> None:
    own, junit = run.scratch / "test_own.py", run.scratch / "junit.xml"
    own.write_text(OWN, "utf-8")
    words = (str(own), "--realm=abs-dev", f"--target={faulty(hiding()).target}", f"--junitxml={junit}")
    ended = run(*words, *workers, program=True)
    assert ended.code == 1, ended.output
    assert ended.verdict["findings"][0]["rate"] == [2, 2]
    recorded = [each.attrib for each in ET.parse(junit).iter("property")]  # noqa: S314 - pytest's own
    assert [each["name"] for each in recorded] == ["ticket"]
    assert recorded[0]["value"].startswith("rc-")


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_plugin_that_breaks_pytest_is_named_in_a_line_without_a_secret(
    run: Any, faulty: Callable[..., Any], workers: tuple[str, ...]
) -> None:
    ended = run("-k", "test_save", "-p", "breaking", f"--target={faulty().target}", *workers)
    assert ended.code == 3, ended.output
    assert "RuntimeError: no place for [redacted]" in ended.verdict["reason"]
    assert not any(word in ended.output for word in ("sandbox-author", "Traceback", "INTERNALERROR"))
