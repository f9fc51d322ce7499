"""How much the page shows: first what people read, then less, until the page is small enough to be sent and opened."""

from dataclasses import dataclass
from typing import Final

from contracts.shortening import cut

#: Bytes that a page may have.
LARGEST: Final = 3_000_000
#: No text is cut below this, so that it can still be told from others.
_SHORTEST: Final = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one try.

    Attributes:
        lines: rows of one table.
        points: facts of one row, and lines of evidence of one question.
        cards: findings.
        budget: characters of all exchanges together; escaping can make up to five bytes of one.
        curl: characters of the curl lines of one finding.
        share: of the length that a text is cut at elsewhere, 0 to 1.
    """

    lines: int
    points: int
    cards: int
    budget: int
    curl: int
    share: float

    def cut(self, text: str, length: int) -> str:
        """Return a text, cut at its share of `length` characters."""
        return cut(text, max(_SHORTEST, round(length * self.share)))


#: What is tried in turn; the last fits whatever was found.
TRIES: Final = (
    Limits(lines=400, points=12, cards=200, budget=350_000, curl=6_000, share=1.0),
    Limits(lines=120, points=4, cards=60, budget=80_000, curl=1_500, share=0.4),
    Limits(lines=30, points=2, cards=20, budget=20_000, curl=300, share=0.1),
)
