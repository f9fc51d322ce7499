"""The request pipeline, alone in connecting to a target: authentication, limits, ledger, retry, pace, clean-up."""
