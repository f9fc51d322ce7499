"""A pytest plugin under which the clock jumps by days and years with each look; the monotonic one goes on."""

import datetime
import itertools
import time

_usual = time.time
_jumps = itertools.cycle((0.0, 86400.0, -86400.0, 40 * 365 * 86400.0, -5.0))


class _Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Jumping":
        return cls.fromtimestamp(time.time(), tz)


time.time = lambda: _usual() + next(_jumps)
datetime.datetime = _Jumping  # type: ignore[misc]
