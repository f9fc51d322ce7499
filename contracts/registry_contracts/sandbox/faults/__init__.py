"""Faults: changes to requests and answers, between the service and its clients, that break named clauses."""
