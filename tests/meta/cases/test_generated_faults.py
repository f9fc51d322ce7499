"""Faults that Schemathesis generates are sent under identifiers of the run alone."""

from registry_contracts.cases.generated_cases import Fault, with_fault
from registry_contracts.cases.requests import Request
from registry_contracts.session.namespace import Namespace


def test_a_faulty_identifier_stays_inside_the_namespace() -> None:
    fresh = Namespace("test", seed="1")
    request = Request("saveDraft", {"uid": fresh.uid()})
    for uid, kind in (("a!" * 20, "pattern"), ("short", "too-short"), ("x" * 129, "too-long")):
        changed = with_fault(request, Fault("path", ("uid",), f"path.uid:{kind}", uid), fresh)
        assert changed.path["uid"].startswith(fresh.prefix)
        assert kind == "pattern" or len(changed.path["uid"]) == max(len(uid), len(fresh.prefix) + 1)
