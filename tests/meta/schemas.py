"""The schemas that others read often enough to be kept as files, made of the declarations.

`python -m tests.meta.schemas` writes them.
"""

import json
from pathlib import Path

from contracts.file_formats import schema_of
from contracts.manual.check import CheckFile
from contracts.reports.verdict_json import VerdictFile

FOLDER = Path(__file__).parents[2] / "contracts" / "reports" / "schemas"
#: Name of a schema → its title and what it is made of.
PUBLISHED = {
    "check": (
        "check.json: what traffic showed about the interface, from an archive or through the proxy",
        CheckFile,
    ),
    "verdict": ("The verdict of a run of the contract suite", VerdictFile),
}


def text_of(name: str) -> str:
    """A schema as a file holds it."""
    return json.dumps(schema_of(*PUBLISHED[name]), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PUBLISHED:
        (FOLDER / f"{name}.schema.json").write_text(text_of(name), "utf-8")
