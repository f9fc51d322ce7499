"""Each defect is seen from outside: the altered sandbox breaks the documented statement, the faithful one keeps it."""

from collections.abc import Callable

import pytest

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.app import create_app
from contracts.sandbox.defects import ALL, Defect
from contracts.sandbox.service import Service
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
Seen = tuple[str, tuple[str, ...], tuple[str, ...]]


@pytest.fixture(scope="module")
def kept() -> set[Seen]:
    """Return what was already seen to hold on the faithful sandbox."""
    return set()


def realms_of(defect: Defect) -> tuple[str, ...]:
    return defect.realms or ("abs-dev",)


def look(defect: Defect, alter: Callable[[Service], None]) -> None:
    """Run the observations of a defect's clause on a fresh sandbox."""
    app = create_app(SETTINGS)
    alter(app.state.service)
    wire = Wire(app)
    try:
        for observation in OBSERVATIONS[defect.clause]:
            observation(Witness(wire, defect.operations, realms_of(defect)))
    finally:
        wire.close()


@pytest.mark.parametrize("defect", ALL, ids=[defect.name for defect in ALL])
def test_a_defect_shows(defect: Defect, kept: set[Seen]) -> None:
    """The sequence that the faithful sandbox passes fails on the altered one."""
    seen = (defect.clause, defect.operations, defect.realms)
    if seen not in kept:
        look(defect, lambda _: None)
        kept.add(seen)
    with pytest.raises(AssertionError):
        look(defect, defect.apply)
