"""The checks: functions from exchanges to results, used by every package above."""
