"""Mutants of the judging modules, made by Cosmic Ray: a weakened check has to let some defect live."""
