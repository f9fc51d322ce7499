"""The description of the interface, as it is in the repository."""

import pytest

from contracts.interface.description import Description, load_description


@pytest.fixture(scope="module")
def description() -> Description:
    return load_description()
