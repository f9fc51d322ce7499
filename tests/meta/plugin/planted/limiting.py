"""A pytest plugin that limits what the run's process may have: `LIMIT=FSIZE=20000`, `LIMIT=NOFILE=20`."""

import os
import resource

_name, _, _most = os.environ["LIMIT"].partition("=")
resource.setrlimit(getattr(resource, f"RLIMIT_{_name}"), (int(_most), int(_most)))
