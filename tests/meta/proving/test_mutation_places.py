"""A mutant meets the cases that run the statement it changes, so the statement has to be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.places import place

SOURCE = """\
LIMIT = 3
KNOWN = (
    lambda body: body[:2] == b"BM"
    and len(body) > 2,
)


@wraps(LIMIT)
def judge(
    answer, *others
):
    if (
        answer
        and others
    ):
        return [
            each for each in others
        ]

    def inner():
        return lambda: 3
    for other in others: check(other)
    try:
        check(
            answer)
    except ValueError:
        pass


class Reader:
    limit = 4

    def read(self):
        return self.limit
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param(1, "", id="module"),
        pytest.param(2, "", id="around-a-lambda"),
        pytest.param(4, "3", id="lambda"),
        pytest.param(8, "", id="decorator"),
        pytest.param(10, "", id="parameters"),
        pytest.param(14, "12", id="head-of-a-condition"),
        pytest.param(17, "16", id="second-line-of-a-statement"),
        pytest.param(20, "20", id="function-within"),
        pytest.param(21, "21", id="statement-of-a-function-within"),
        pytest.param(22, "22", id="on-one-line"),
        pytest.param(25, "24", id="within-try"),
        pytest.param(27, "27", id="handler"),
        pytest.param(31, "", id="class"),
        pytest.param(34, "34", id="method"),
    ],
)
def test_a_line_belongs_to_the_statement_that_is_run_with_it(tmp_path: Path, line: int, found: str) -> None:
    path = tmp_path / "rows.py"
    path.write_text(SOURCE, encoding="utf-8")
    assert place(path, line) == f"rows:{found}"
