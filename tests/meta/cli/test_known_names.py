"""A name that a person mistypes is a usage error in every command, never an empty answer."""

import pytest

from tests.meta.program import RunCommand


@pytest.mark.parametrize(
    "words",
    [
        ("drift", "--realm", "zz"),
        ("history", "--realm", "zz"),
        ("list", "clauses", "--realm", "zz"),
        ("check", "traffic.har", "--realm", "zz"),
        ("call", "listDrafts", "--realm", "zz"),
        ("init", "dev", "--base-url", "https://h.example", "--realm", "zz"),
        ("drift", "--clause", "zz"),
        ("history", "zz"),
        ("explain", "zz"),
        ("prove", "--clause", "zz"),
    ],
)
def test_an_unknown_realm_or_clause_is_refused(run_command: RunCommand, words: tuple[str, ...]) -> None:
    ended = run_command(*words)
    assert ended.code == 4
    assert "'zz'" in ended.err
    assert ended.err.count("\n") == 1
