"""Starts the program, its child processes and pytest's plugin with this distribution's own package `contracts`.

`contracts` is a common name: the current folder, or a folder of PYTHONPATH, may hold another package of that name,
which Python would import first. Importing this module, whose name is nobody else's, settles which one it is.
It is a pytest plugin as well: `-p registry_contracts` loads `contracts.plugin`; an installed wheel does so by itself
(`registry_contracts_pytest`). PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import signal
import sys


def _end(_number: int, _frame: object) -> None:
    """End where nothing was begun yet, or all is done: in one line, and with the exit code of an interruption."""
    os.write(2, b"registry-contracts: interrupted\n")
    os._exit(2)


_is_program = os.path.basename(sys.argv[0]).startswith("registry-contracts")  # noqa: PTH119 - nothing is imported yet
if _is_program and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Importing takes a while, in which Ctrl-C would show a traceback. One that is ignored stays so.
    signal.signal(signal.SIGINT, _end)

from collections.abc import Sequence  # noqa: E402 - Ctrl-C comes first
from importlib.abc import MetaPathFinder  # noqa: E402
from importlib.machinery import ModuleSpec, PathFinder  # noqa: E402
from importlib.util import module_from_spec, spec_from_file_location  # noqa: E402
from pathlib import Path  # noqa: E402
from types import ModuleType  # noqa: E402

_PACKAGE = Path(__file__).resolve().with_name("contracts")

pytest_plugins = ("contracts.plugin",)


class _AsWritten(MetaPathFinder):
    """Finds modules of the library, and of the largest ones that it needs, before pytest does.

    pytest takes every module of a wheel that has an entry point for a test's, and rewrites its assertions: seconds
    in each process where nothing is cached, as in many containers. Nobody reads them in our runs.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module below `contracts` as Python itself does; the cases are pytest's."""
        known = name.partition(".")[0] in ("contracts", "hypothesis", "schemathesis")
        found = known and not name.startswith("contracts._promises")
        return PathFinder.find_spec(name, path, target) if found else None


def _load_own_package() -> None:
    """Put our package into `sys.modules`, where every later import of it or of its modules looks first.

    Raises:
        ImportError: another package of that name is loaded already.
    """
    loaded = sys.modules.get("contracts")
    if loaded is not None:
        if Path(loaded.__file__ or "").resolve().parent != _PACKAGE:
            raise ImportError(f"another package 'contracts' is loaded already: {loaded.__file__}")
        return
    spec = spec_from_file_location("contracts", _PACKAGE / "__init__.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{_PACKAGE} is no package; install registry-contracts again")
    sys.modules["contracts"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)


_load_own_package()
sys.meta_path.insert(0, _AsWritten())


def main() -> None:
    """Run `registry-contracts`; its child processes do not look for modules in the current folder."""
    from contracts.cli import main as program  # noqa: PLC0415 - once it is settled which package that is

    os.environ["PYTHONSAFEPATH"] = "1"
    program()


if __name__ == "__main__":
    main()
