"""The program `registry-contracts`, with a module for each command. Commands read options and print, and no more."""

import sys


def main() -> None:
    """Run a command and exit with its code."""
    try:
        # Importing takes a while, in which Ctrl-C is one line as well.
        from registry_contracts.cli.program import main as run  # noqa: PLC0415

        run()
    except ModuleNotFoundError as missing:
        sys.stderr.write(
            f"registry-contracts: {missing}; install the project with its dependencies, as README shows\n"
        )
        sys.exit(4)
    except KeyboardInterrupt:
        sys.stderr.write("registry-contracts: interrupted\n")
        sys.exit(2)
