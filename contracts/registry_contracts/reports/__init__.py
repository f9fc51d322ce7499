"""The reports of a run (HTML, JUnit, HAR, summary and others): show the verdict, and judge nothing."""
