"""Each defect is seen from outside: the altered sandbox breaks the documented statement, the faithful one keeps it."""

from collections.abc import Callable, Iterator

import pytest

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.app import create_app
from contracts.sandbox.defects import ALL, Defect
from contracts.sandbox.settings import Settings
from tests.meta.defects import (  # noqa: F401 - each registers its observations
    observe_attachment,
    observe_contact,
    observe_draft,
    observe_http,
    observe_list,
    observe_realm,
    observe_token,
    observe_uid,
    observe_workflow,
)
from tests.meta.defects.observing import OBSERVATIONS
from tests.meta.defects.wire import Wire
from tests.meta.defects.witness import Witness

CATALOGUE = load_catalogue()
SETTINGS = Settings(size_limit=observe_attachment.SIZE_LIMIT)
Look = Callable[[Wire, Defect], None]


@pytest.fixture(scope="module")
def faithful() -> Iterator[Wire]:
    wire = Wire(create_app(SETTINGS))
    yield wire
    wire.close()


@pytest.fixture(scope="module")
def kept() -> set[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return what was already seen to hold on the faithful sandbox."""
    return set()


def realms_of(defect: Defect) -> tuple[str, ...]:
    return defect.realms or ("abs-dev",)


def look(wire: Wire, defect: Defect) -> None:
    for observation in OBSERVATIONS[defect.clause]:
        observation(Witness(wire, defect.operations, realms_of(defect)))


@pytest.mark.parametrize("defect", ALL, ids=[defect.name for defect in ALL])
def test_a_defect_shows(
    defect: Defect, faithful: Wire, kept: set[tuple[str, tuple[str, ...], tuple[str, ...]]]
) -> None:
    seen = (defect.clause, defect.operations, defect.realms)
    if seen not in kept:
        look(faithful, defect)
        kept.add(seen)
    app = create_app(SETTINGS)
    defect.apply(app.state.service)
    altered = Wire(app)
    try:
        with pytest.raises(AssertionError):
            look(altered, defect)
    finally:
        altered.close()
