"""The workbench page in a browser: live traffic of the proxy, and single requests by hand."""
