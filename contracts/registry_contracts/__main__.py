"""`python -m registry_contracts` is `registry-contracts`."""

from registry_contracts.cli import main

if __name__ == "__main__":
    main()
