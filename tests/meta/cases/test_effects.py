"""How long an effect is waited for."""

import time

from registry_contracts.cases import effects


def test_the_last_look_begins_when_the_patience_is_over() -> None:
    begun, start = list[float](), time.monotonic()

    def slow() -> bool:
        begun.append(time.monotonic() - start)
        time.sleep(0.3)
        return False

    assert effects.until(slow, bool, 0.2) is False
    assert begun[-1] >= 0.2
    assert effects.until(lambda: True, bool, 60)
