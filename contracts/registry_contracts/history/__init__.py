"""Earlier runs and accepted observations: the history of runs, baselines and drift."""
