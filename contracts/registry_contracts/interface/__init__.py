"""The interface as data: the OpenAPI description, its operations and the clause catalogue beside it."""
