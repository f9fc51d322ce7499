"""A pytest plugin that limits how large a file of the run's process may get: `LIMIT=20000`, in bytes."""

import os
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LIMIT"]),) * 2)
