"""What a request is made of, which combinations are sent, and what is promised of each: the table, rows, the model.

`factors` holds the circumstances that the interface document speaks of, `rows` combines them, and `reference` says what
the document promises of a request, after what was sent before.
"""
