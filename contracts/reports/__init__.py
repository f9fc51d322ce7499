"""The reports of a run: HTML, JUnit, Allure, HAR, summary and questions."""
