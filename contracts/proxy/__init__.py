"""A reverse proxy on loopback: passes everything through unchanged, and has it judged beside the way."""
