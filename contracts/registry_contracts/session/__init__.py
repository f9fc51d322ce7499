"""The one connection to a target: authentication, pace, retry, limits, ledger, recording and clean-up."""
