"""One request and its response: model, redaction, readers, HAR files and transcripts; nothing here sends or judges."""
