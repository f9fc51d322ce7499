"""A door for a sweep that is no run: the same guard, pace and redaction, and no report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import EnvironmentFault
from contracts.interface.description import load_description
from contracts.session.actor import Actor
from contracts.session.alive import Alive
from contracts.session.credentials import token_issuer
from contracts.session.door import Context
from contracts.session.exchange import Exchange
from contracts.session.ledger import Ledger
from contracts.session.namespace import Namespace, new_run_token
from contracts.session.opening import namespace_of, open_door, pace_of, proxy_passwords
from contracts.session.redaction import Redactor
from contracts.session.tokens import TokenStore
from contracts.sweeping.drafts import CASE, MakeActor
from contracts.sweeping.folders import PRIVATE_PREFIX
from contracts.target.model import AUTHOR, Target


class _Silent:
    """Keeps nothing of what is sent."""

    def exchange(self, exchange: Exchange, context: Context) -> None:
        """Pass over an exchange."""

    def fault(self, fault: str, context: Context) -> None:
        """Pass over a fault."""


@dataclass(frozen=True)
class Entrance:
    """What a sweep needs of a target.

    Attributes:
        actor: Makes somebody of a role in a realm.
        namespace: The door's.
        redactor: Knows the secrets of the sweep; whatever is said goes through it.
    """

    actor: MakeActor
    namespace: Namespace
    redactor: Redactor


@contextmanager
def entrance(target: Target) -> Iterator[Entrance]:
    """A way into a target, for as long as the `with` block lasts.

    Raises:
        EnvironmentFault: the author cannot sign in.
    """
    with ExitStack() as stack:
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX)))
        stack.callback(Alive(private, "sweep").end)
        ledger = Ledger(private / "ledger-sweep.jsonl")
        stack.callback(ledger.close)
        namespace = namespace_of(target, new_run_token())
        door = open_door(
            target,
            pace=pace_of(target, private, budget=None, unhurried=False),
            ledger=ledger,
            namespace=namespace,
            recorder=_Silent(),
            name="sweep",
            on_break=lambda _: None,
        )
        passwords = (account.password.reveal() for account in target.accounts.values())
        redactor = Redactor([*passwords, *proxy_passwords()])
        description = load_description()
        tokens = TokenStore(private, token_issuer(door, target, description), redactor.learn)
        author = tokens.token(AUTHOR)
        if not author.value:
            raise EnvironmentFault(f"{target.base_url} gave the author no token: {author.refusal}")

        def actor(role: str, realm: str) -> Actor:
            return Actor(
                role=role,
                realm=realm,
                door=door,
                description=description,
                tokens=tokens,
                target=target,
                case=CASE,
                attempt=1,
                exchanges=[],
            )

        yield Entrance(actor, namespace, redactor)
