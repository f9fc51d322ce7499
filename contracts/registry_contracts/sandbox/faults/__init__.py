"""Faults drawn mechanically: place, operator and condition, injected between the service and its clients."""
