"""Records as a fault judges them: it changes the errors that the service finds in their content."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from registry_contracts.sandbox.documents import Contacts
from registry_contracts.sandbox.http import Problem
from registry_contracts.sandbox.workflow import Workflow

Record = dict[str, Any]
Errors = list[Record]
#: Gives the errors of a body, from the body and those that the service found.
Judge = Callable[[Record, Errors], Errors]
#: Judges the content of the request that is under way.
JUDGE: Final[ContextVar[Judge | None]] = ContextVar("judge", default=None)


def _judged(body: Record, problems: list[Problem]) -> list[Problem]:
    judge = JUDGE.get()
    if judge is None:
        return problems
    errors = dict.fromkeys((problem.code, problem.path[0]) for problem in problems)
    changed = judge(body, [{"code": code, "property": field} for code, field in errors])
    return [Problem(error["code"], (error["property"],)) for error in changed]


class _Contacts(Contacts):
    def problems(self, records: Any, realm: Any, uid: Any, document: Record) -> list[Problem]:
        return _judged(document, super().problems(records, realm, uid, document))


class _Workflow(Workflow):
    def problems(self, submission: Any, records: Any) -> list[Problem]:
        return _judged(submission.body, super().problems(submission, records))


#: Layers over the service's parts, for a sandbox with a fault.
LAYERS: Final = (_Contacts, _Workflow)
