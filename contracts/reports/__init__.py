"""The reports of a run: HTML, JUnit, Allure, HAR, summary, questions and the webhook."""
