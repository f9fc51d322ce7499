"""Defects of the identifier rule that let in uids that are too short or too long."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, around, forgive
from contracts.sandbox.defects.groups import DRAFTS
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.defects.uid_admission import SHAPE, SHOWN, Read, admit, as_it_is
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.records import DRAFT, new_version
from contracts.sandbox.service import Service


def _of_length(*lengths: int) -> Callable[[str], bool]:
    return lambda text: len(text) in lengths and SHAPE.fullmatch(text) is not None


@defect("uid-accepts-ten", clause="uid-too-short", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of ten characters is accepted."""
    admit(service, as_it_is(_of_length(10)))


@defect("uid-accepts-any-length-below", clause="uid-too-short", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of one to eight characters is accepted, one of nine or ten is not."""
    admit(service, as_it_is(_of_length(*range(1, 9))))


@defect("uid-accepts-ten-in-bch", clause="uid-too-short", operations=SHOWN, realms=["bch-dev"])
def _(service: Service) -> None:
    """A uid of ten characters is accepted for the drafts of bch-dev."""
    admit(service, as_it_is(_of_length(10)), DRAFTS, realm="bch-dev")


@defect("uid-accepts-129", clause="uid-too-long", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of 129 characters is accepted."""
    admit(service, as_it_is(_of_length(129)))


@defect("uid-accepts-any-length-above", clause="uid-too-long", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of 200 or more characters is accepted, one of 129 to 199 is not."""
    admit(service, as_it_is(lambda text: len(text) >= 200 and SHAPE.fullmatch(text) is not None))


@defect("uid-cut-to-128", clause="uid-too-long", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under more than 128 characters is stored under the first 128."""
    cut: Read = lambda text: text[:128] if len(text) > 128 and SHAPE.fullmatch(text) else None  # noqa: E731
    admit(service, cut, ["saveDraft"])


def _answering(operation: str, length: int) -> Callable[[Service], None]:
    """Return the change that answers success for a uid of a wrong length, without doing anything."""

    def meant(request: Request) -> bool:
        text = decoded_segment(request.path_params["uid"]) or ""
        return len(text) == length and SHAPE.fullmatch(text) is not None

    return lambda service: forgive(service, [operation], {"identifier": "unknown"}, when=meant)


for _operation, _name in (
    ("getDraft", "get"),
    ("getDraftInfo", "info"),
    ("draftExists", "exists"),
    ("updateContact", "contact-update"),
    ("attachmentExists", "attachment-exists"),
    ("getAttachment", "download"),
    ("getAttachmentThumbnail", "thumbnail"),
    ("createAttachment", "attaching"),
    ("persistTemporaryFile", "persisting"),
):
    for _length, _clause in ((10, "uid-too-short"), (129, "uid-too-long")):
        defect(
            f"uid-{_length}-answered-on-{_name}",
            clause=_clause,
            operations=[_operation],
            sentence=f"{_operation} answers success for a uid of {_length} characters.",
        )(_answering(_operation, _length))


def _stored_though_refused(meant: Callable[[str], bool]) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            uid = decoded_segment(request.path_params["uid"]) or ""
            if meant(uid):
                _store(service, request, uid)
            return await faithful(request)

        around(service, ["saveDraft"], answer)

    return change


def _store(service: Service, request: Request, uid: str) -> None:
    caller, realm = service.identity.require(request), service.realms.of_documents(request)
    moment = service.clock.now()
    schema = service.realms.schema(request, realm).name
    with service.storage.transaction() as records:
        records.store(
            new_version(
                realm=realm.name,
                identifier=uid,
                state=DRAFT,
                schema=schema,
                owner=caller.name,
                content="{}",
                moment=moment,
            )
        )


for _length, _clause in ((10, "uid-too-short"), (129, "uid-too-long")):
    defect(
        f"uid-{_length}-refused-yet-listed",
        clause=_clause,
        operations=["saveDraft"],
        sentence=f"Saving under {_length} characters is refused, yet the draft is stored and listed.",
    )(_stored_though_refused(_of_length(_length)))
