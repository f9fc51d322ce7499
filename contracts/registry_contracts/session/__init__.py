"""The request pipeline, the only code that connects to a target; and the clean-up of what a run created."""
