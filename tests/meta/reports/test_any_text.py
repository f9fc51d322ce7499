"""Whatever text JSON can carry, every report can be written."""

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.evidence.journal import Journal
from contracts.history.observed_facts import shape_of
from contracts.reports.writers import write_all
from tests.meta.journal_events import message, write_ending, write_exchange, write_finding
from tests.meta.reports.sample_runs import Work, body, build_run

CASE = "scenario/test_any.py::test_any[abs-dev]"
DRAFT = "http://127.0.0.1/api/v2013/documents/rc-0123456789abc/versions/draft?schema=contact"
NASTY = ["\ud800", "\udc00\ud800", "\x00", "\x1b[2J\x07\x7f\x85", "\u2028\u2029", "\u202eabc\u2066"]
NASTY += ["\ufffe\uffff", "]]>&lt;</script><!--", "NaN", "=1+1", "😀"]
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=12))
VALUES = st.recursive(
    TEXTS | st.sampled_from([10**4000, -(10**400), 1e308, 0, True, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
TOKENS = ["NaN", "-Infinity", "1e400", "9" * 5000, "[" * 5000, '{"a": NaN}', '{"a": 1, "a": "\\ud800"}']


@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from(TOKENS))
@settings(max_examples=15)
def test_every_writer_writes_whatever_a_service_answers(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], token: str
) -> None:
    run = tmp_path_factory.mktemp("any") / "reports" / "run"
    folder = build_run(run, answering(values, token), clauses=["draft-save-answer"], realms=["abs-dev"])
    assert write_all(folder).unwritten == ()
    for path in filter(lambda path: path.is_file(), folder.rglob("*")):
        text = path.read_bytes().decode("utf-8", "strict")
        if path.suffix in (".json", ".har") and path.name != "run.json":
            json.loads(text, parse_constant=refuse)
    ET.parse(folder / "junit.xml")  # noqa: S314 - our own
    content = json.loads((folder / "observations.json").read_text("utf-8"))
    assert any(each["operation"] == "saveDraft" for each in content["observed"])


def answering(values: list[Any], token: str) -> Work:
    """A worker whose saves were answered with these values, as a finding and an observation tell too."""

    def work(journal: Journal) -> None:
        texts = [*map(json.dumps, values), token]
        keys = [answered(journal, text) for text in texts]
        place = {"clause": "draft-save-answer", "realm": "abs-dev", "case": CASE}
        for value in values:
            shown = {"status": 201, "type": "application/json", "body": shape_of(value)}
            for seen in (value, shown):
                journal.write("observation", **place, operation="saveDraft", seen=seen)
        seen = "".join(str(value)[:200] for value in values)
        found: dict[str, Any] = {"operation": "saveDraft", "expected": seen, "seen": seen, "rate": [1, 1]}
        write_finding(journal, **place, **found, exchanges=keys, curl=[f"curl -d {seen}"])
        ended: dict[str, Any] = {"operations": ["saveDraft"], "outcome": "observed", "requests": len(texts)}
        write_ending(journal, **place, **ended, name=seen or "a case", doc=seen, reason=seen)

    return work


def answered(journal: Journal, text: str) -> str:
    headers = ["Content-Type", "application/json"]
    sent = message(body(None, text), headers, method="PUT", url=DRAFT)
    received = message(body(None, text), headers, status=201, reason="Created")
    return write_exchange(journal, CASE, operation="saveDraft", request=sent, response=received)


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
