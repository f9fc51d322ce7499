"""The one door to the network: authentication, pace, retry, ledger, redaction and recording live here once."""
