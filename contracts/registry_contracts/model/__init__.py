"""The factors of requests, the combinations that are sent, and what the document promises of each.

`factors` is the table of all factors in the interface document, `rows` combines their values, and `reference` says
what the document promises of a request after the earlier ones.
"""
