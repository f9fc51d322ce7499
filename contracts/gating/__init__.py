"""What a run is held to besides the catalogue: consumer files, accepted deviations, and how they are read."""
