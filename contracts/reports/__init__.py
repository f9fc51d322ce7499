"""The reports of a run: HTML, JUnit, HAR, summary and questions."""
