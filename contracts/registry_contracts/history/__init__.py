"""What earlier runs said, and what was accepted of them: runs, baselines and drift."""
