"""Files of terms that cannot be used: one line with file, line, what is wrong and what to do."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.evidence.terms import read_consumer, read_deviations

ENTRY = """\
# what we know of
[[deviation]]
clause = "draft-get-content"
realms = ["abs-dev"]
reason = "Old records lose a member."
owner = "drafts team"
issue = "https://tracker.example.test/17"
expires = 2027-01-31
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "terms.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_is_read_with_its_line(tmp_path: Path) -> None:
    second = ENTRY.replace("draft-get-content", "draft-text-kept").replace('realms = ["abs-dev"]\n', "")
    text = f"{ENTRY}\n{second}operation = 'getDraft'\nprofile = 'nightly'\n"
    found = read_deviations(written(tmp_path, text), "dev.toml")
    assert [(each.line, each.realms, each.operation) for each in found] == [
        (2, ("abs-dev",), None),
        (11, ("abs-dev", "bch-dev", "chm-dev"), "getDraft"),
    ]
    assert (found[0].expires, found[0].profile, found[1].profile) == (date(2027, 1, 31), "gate", "nightly")


CONSUMER = """\
operations = ["createToken"]
realms = ["abs-dev"]
clauses = ["draft-get-content"]
[methods]
"client.drafts.get" = ["getDraft"]
client.drafts.save = ["saveDraft", "getDraft"]
[waivers]
draft-get-content = "  read by nobody yet "
"""


def test_a_consumer_file_joins_operations_and_methods(tmp_path: Path) -> None:
    found = read_consumer(written(tmp_path, CONSUMER), "sdk.toml")
    assert found.operations == ("createToken", "getDraft", "saveDraft")
    assert found.methods == {
        "client.drafts.get": ("getDraft",),
        "client.drafts.save": ("saveDraft", "getDraft"),
    }
    assert (found.realms, found.clauses) == (("abs-dev",), ("draft-get-content",))
    assert [(each.reason, each.line) for each in found.waivers] == [("read by nobody yet", 8)]


#: What replaces what in an entry, the line that is named, and what it says.
ODD_ENTRIES = [
    ("draft-get-content", "draft-get-contents", 3, "did you mean 'draft-get-content'?"),
    ("draft-get-content", "draft-success-status", 3, "is silent at"),
    ('"abs-dev"', '"abs"', 4, "production realm, which is refused; use abs-dev"),
    ('"abs-dev"', '"ort-dev"', 4, "is judged in abs-dev, bch-dev, chm-dev, not in ort-dev"),
    ("realms", "relms", 4, "unknown key 'relms' in [deviation]; did you mean 'realms'?"),
    ('reason = "Old records lose a member."\n', "", 2, "lacks reason; see docs/gate.md"),
    ("2027-01-31", '"soon"', 8, "expires must be a date such as"),
    ("2027-01-31\n", '2027-01-31\noperation = "saveDraft"\n', 9, "concerns getDraft, not saveDraft"),
    ("[[deviation]]", "[deviation]", 2, "begin each entry with [[deviation]]"),
    ("2027-01-31\n", f"2027-01-31\n{ENTRY}", 10, "stands already at line 2"),
]
#: A consumer file, and the same.
ODD_CONSUMERS = [
    ('operations = [\n  "saveDraft",\n  "nope",\n]', 3, "unknown operation 'nope'; known: createToken"),
    ('operations = ["GET /api/v2013/document-drafts"]', 1, "write 'listDrafts'"),
    ('[methods]\n"a.b" = "saveDraft"', 2, "a.b must be a list of at least one text"),
    ('operations = ["saveDraft"]\nrealms = ["ort-dev"]', 2, "saveDraft is offered in abs-dev"),
    ('operations = ["saveDraft"]\nclauses = ["draft-get-content"]', 2, "which the consumer does not use"),
    ('[waivers]\ndraft-get-content = ""', 2, "has no reason"),
    ("", 1, "says nothing"),
    ("operations = [", 1, "is not TOML"),
]


@pytest.mark.parametrize(
    ("read", "text", "line", "says"),
    [
        *((read_deviations, ENTRY.replace(old, new), *rest) for old, new, *rest in ODD_ENTRIES),
        *((read_consumer, *row) for row in ODD_CONSUMERS),
    ],
)
def test_what_cannot_be_used_names_its_line(
    tmp_path: Path, read: Callable[[Path, str], object], text: str, line: int, says: str
) -> None:
    assert text != ENTRY
    with pytest.raises(UsageError) as caught:
        read(written(tmp_path, text), "terms.toml")
    assert str(caught.value).startswith(f"terms.toml:{line}: "), caught.value
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
