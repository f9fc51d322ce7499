"""Writes what is generated in the documents: tables, and the schemas that are kept as files."""
