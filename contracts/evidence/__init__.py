"""Evidence: what a run saw, kept in journals, judged into verdicts and written as reports."""
