"""Work by hand: one request at a time, and sequences sent again, through the same door as a run."""
