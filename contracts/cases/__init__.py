"""What a contract test uses: claims, arrangements, samples, strategies and the state model."""
