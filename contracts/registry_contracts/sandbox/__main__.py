"""``python -m registry_contracts.sandbox``: serve the sandbox until it is told to stop."""

import sys

from registry_contracts.sandbox.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
