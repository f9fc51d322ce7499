"""The interface as data: the OpenAPI description, its operations and the clauses beside it."""
