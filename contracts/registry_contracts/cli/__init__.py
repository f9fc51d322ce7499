"""The program `registry-contracts`: each command in a module of its own, loaded when it is called."""

import sys


def main() -> None:
    """Run a command and exit with its code."""
    try:
        # Importing takes a while, in which Ctrl-C is one line as well.
        from registry_contracts.cli.program import main as run  # noqa: PLC0415

        run()
    except ModuleNotFoundError as missing:
        sys.stderr.write(
            f"registry-contracts: {missing}; install the project with what it needs, as README says\n"
        )
        sys.exit(4)
    except KeyboardInterrupt:
        sys.stderr.write("registry-contracts: interrupted\n")
        sys.exit(2)
