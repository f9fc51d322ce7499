"""Whether an account lacks the rights of its role, told from a service that refuses everybody."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from registry_contracts.cases.rights import Rights, WithoutRightsError
from registry_contracts.checks.outcomes import Untested
from registry_contracts.settings.target import RealmSettings, Target
from tests.meta import samples
from tests.meta.cases.conftest import Scripted, Session
from tests.meta.messages import answer, exchange

WORDS = "Insufficient rights to create a draft record."
Answer = tuple[int, dict[str, Any]]
TAKEN: Answer = (200, {})
PLAIN: Answer = (403, {"message": "not you"})
SPOKEN: Answer = (403, {"message": WORDS})
FAULTY: Answer = (400, {"errors": [{"code": "Error.InvalidType", "property": "x"}]})
ANONYMOUS: Answer = (403, {"message": samples.ANONYMOUS})
TOLD = RealmSettings(
    contact_schema="contact",
    country_terms=("ca",),
    contact_organization="organization-1",
    workflow_schema="permit",
    workflow_document={"header": {}, "title": {"en": "x"}},
)
#: By name: answers to drafts of the author and of the other, to a submission, the settings; whether rights lack.
LOOKS: dict[str, Any] = {
    "the workflow says so": (PLAIN, None, SPOKEN, TOLD, True),
    "whatever status a draft is refused with": ((404, {}), TAKEN, SPOKEN, TOLD, True),
    "the other may": (PLAIN, TAKEN, FAULTY, TOLD, True),
    "nobody may": (SPOKEN, SPOKEN, FAULTY, TOLD, False),
    "the draft says so": (SPOKEN, None, FAULTY, TOLD, True),
    "a draft of the settings": (PLAIN, None, FAULTY, TOLD, False),
    "a stand-in": (PLAIN, None, FAULTY, RealmSettings(), True),
    "a stand-in that is not valid": (FAULTY, None, FAULTY, RealmSettings(), False),
    "a token that is not known": (ANONYMOUS, None, ANONYMOUS, RealmSettings(), False),
    "a token that is refused": ((401, {}), TAKEN, FAULTY, TOLD, False),
    "an author who may": (TAKEN, None, SPOKEN, TOLD, False),
}


@pytest.mark.parametrize(("saved", "other", "submitted", "settings", "lacks"), LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize(("role", "raised"), [("author", WithoutRightsError), ("other", Untested)])
def test_rights_that_lack_are_told_from_a_service_that_refuses(
    monkeypatch: pytest.MonkeyPatch,
    run: Session,
    saved: Any,
    other: Any,
    submitted: Any,
    settings: RealmSettings,
    lacks: bool,
    role: str,
    raised: type[Exception],
) -> None:
    second = {"author": "other", "other": "author"}[role]
    by_role = {role: saved, second: other}

    def rule(operation: str, parts: dict[str, Any]) -> Any:
        return by_role[parts["role"]] if operation == "saveDraft" else submitted

    monkeypatch.setattr(
        "registry_contracts.cases.rights.Actor", lambda _, by, realm, _case: Scripted(run, rule, by, realm)
    )
    accounts: Any = {name: None for name, answered in by_role.items() if answered}
    target = Target("t", "http://t.test", realm={"abs-dev": settings}, accounts=accounts)
    session: Any = SimpleNamespace(
        target=target,
        shared=run,
        namespace=run.namespace,
        tokens=SimpleNamespace(token=lambda _: SimpleNamespace(value="t")),
    )
    refused = exchange(answer(PLAIN[1], PLAIN[0]), role=role, operation="createContact", realm="abs-dev")
    with pytest.raises(raised, match="abs-dev: saveDraft was answered") if lacks else nullcontext():
        Rights(session).judge(refused)
