"""The reports of a run: HTML, JUnit, HAR and summary."""
