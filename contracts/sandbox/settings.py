"""How one sandbox is set up: where it keeps its data and which limits it holds."""

from dataclasses import dataclass
from pathlib import Path

ONE_GIGABYTE = 1024**3
"""Limits, "Create attachment": 1 GB, read as 2**30 bytes."""


@dataclass(frozen=True)
class Settings:
    """The figures a sandbox is started with.

    Attributes:
        data: folder for the database and the files; ``None`` keeps everything for this process only.
        size_limit: largest attachment accepted by Create, in bytes (Limits: 1 GB).
        token_lifetime: seconds a token stays valid (token lifetime: not shown in the document).
        variants: names of variants and combinations, see ``contracts.sandbox.variants``.
        defects: names of defects, see ``contracts.sandbox.defects``.
        weather: what stands between the service and its clients, see ``contracts.sandbox.weather``.
        weather_seed: seed of the weather's chance.
        json_limit: largest JSON body read, in bytes (silent; guards the memory).

    """

    data: Path | None = None
    size_limit: int = ONE_GIGABYTE
    token_lifetime: float = 3600.0
    json_limit: int = 16 * 1024**2
    variants: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    weather: tuple[str, ...] = ()
    weather_seed: int = 1
