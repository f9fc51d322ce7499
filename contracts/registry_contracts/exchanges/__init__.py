"""One request and its response: the model, redaction, readers, HAR files and transcripts."""
