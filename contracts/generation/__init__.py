"""What is sent: valid samples, single-fault values, Hypothesis strategies, arrangements; never a judgement."""
