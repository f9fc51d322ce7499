"""What a run saw, kept in journals and judged into verdicts."""
