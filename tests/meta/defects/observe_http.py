"""Whether a sandbox keeps the clauses that hold for every operation."""

import json
from collections.abc import Iterator
from dataclasses import replace

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import PASSWORDS, contact, draft_path
from tests.meta.defects.wire import Answer, Request
from tests.meta.defects.witness import Witness

DEEP = b'{"a":' * 300 + b"1" + b"}" * 300
ODD_BODIES = (
    DEEP,
    b'{"a": "\\ud800"}',
    b'{"a": "\\u0000"}',
    b'{"a": "\xff\xfe"}',
    b'{"a": 1',
    b"[]",
    b"null",
    b"",
)
MALFORMED_ENDS = (b'{"a": 1,}', b'{"a": 1', b'{"a": 1} more', b"{'a': 1}", b'{/* a */"a": 1}', b"{a: 1}")


def _odd_bodies(witness: Witness, operation: str) -> Iterator[Answer]:
    for body in ODD_BODIES:
        yield witness.wire.send(replace(witness.valid(operation), body=body))
    yield witness.send_as(witness.valid(operation), Content_Type="text/plain")
    yield witness.send_as(witness.valid(operation), Realm="no-such-realm")


def _odd_paths(witness: Witness, operation: str) -> Iterator[Answer]:
    request = witness.valid(operation)
    yield witness.send_as(request, Authorization="Nonsense")
    if "/documents/" not in request.path:
        for query in ("$top=99999999999999999999", "$skip=-1", "$filter=identifier eq 'a"):
            yield witness.wire.send(replace(request, query=query.replace(" ", "%20").replace("'", "%27")))
        return
    parts = request.path.split("/")
    for wrong in ("%ff%fe%fd%fc%fb%fa%f9%f8%f7%f6%f5", "x" * 300, "12345678%27901"):
        yield witness.wire.send(replace(request, path="/".join([*parts[:4], wrong, *parts[5:]])))
    for query in ("top=many", "skip=-1"):
        yield witness.wire.send(replace(request, query=query))
    if "/attachments/" in request.path:
        for wrong in ("9" * 25, "latest"):
            yield witness.wire.send(replace(request, path="/".join([*parts[:6], wrong, *parts[7:]])))


@shows("no-server-error")
def no_input_breaks_the_service(witness: Witness) -> None:
    for operation in witness.operations:
        taking = witness.valid(operation).body and operation != "createAttachment"
        for answer in (_odd_bodies if taking else _odd_paths)(witness, operation):
            assert answer.status < 500, answer.text
        if operation == "deleteDraft":
            assert witness.send("DELETE", draft_path(witness.uid())).status < 500
        for _ in range(25):
            assert witness.wire.send(witness.valid(operation)).status < 500
    if "saveDraft" in witness.operations:
        assert witness.save("12345678'9012").status < 500


@shows("answers-in-time")
def every_request_is_answered(witness: Witness) -> None:
    for operation in witness.operations:
        try:
            witness.wire.send(replace(witness.valid(operation), body=DEEP))
            witness.sign_in({"email": "nobody@elsewhere.test", "password": "x"})
        except TimeoutError:
            raise AssertionError(f"{operation} was never answered") from None


@shows("no-secret-echoed")
def no_answer_repeats_a_secret(witness: Witness) -> None:
    wrong = witness.sign_in({"email": "author@sandbox.test", "password": "my-other-password"})
    right = witness.sign_in({"email": "author@sandbox.test", "password": PASSWORDS["author"]})
    assert "my-other-password" not in wrong.text
    assert PASSWORDS["author"] not in right.text
    answers = [witness.wire.send(witness.valid(each)) for each in witness.operations if each != "createToken"]
    answers += [witness.get(witness.uid()), witness.create_contact({**contact(), "firstName": 1})]
    for answer in answers:
        assert witness.token() not in answer.text + str(answer.headers)


def _malformed(witness: Witness, operation: str) -> Iterator[Request]:
    """Yield requests whose bodies would be good if they were well formed."""
    request = witness.valid(operation)
    good = json.dumps(json.loads(request.body), ensure_ascii=True)
    for body in (
        good[:-1] + ",}",
        good[:-1],
        good + " more",
        good.replace('"', "'"),
        good.replace("{", "{/* note */", 1),
        good.replace('{"', "{", 1).replace('":', ":", 1),
    ):
        fresh = witness.valid(operation)
        yield replace(fresh, body=body.encode())


@shows("malformed-json-refused")
def malformed_json_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        for request in _malformed(witness, operation):
            answer = witness.wire.send(request)
            assert answer.refused, (request.body, answer.text)
            assert "authenticationToken" not in answer.text
            if operation == "saveDraft":
                assert not witness.exists(request.path.split("/")[4])


def _answers(witness: Witness) -> Iterator[Answer]:
    for operation in witness.operations:
        request = witness.valid(operation)
        yield witness.wire.send(request)
        yield witness.wire.send(
            replace(witness.valid(operation), body=b'{"document": {}}' if request.body else b"")
        )
        uid = request.path.split("/")[4] if request.path.count("/") > 4 else ""
        if uid:
            yield witness.wire.send(replace(request, path=request.path.replace(uid, witness.uid(), 1)))


@shows("json-labelled-json", "json-bodies")
def bodies_are_json_and_labelled_so(witness: Witness) -> None:
    for answer in _answers(witness):
        if answer.body:
            assert isinstance(answer.json, dict | list), answer.text
            assert "json" in answer.headers.get("content-type", ""), answer.headers


@shows("version-2013-paths", "version-2023-paths")
def operations_are_where_they_belong(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.wire.send(witness.valid(operation)).ok, operation


@shows("content-type-without-body")
def a_content_type_without_body_is_fine(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.send_as(witness.valid(operation), Content_Type="application/json").ok, operation


@shows("content-type-not-needed")
def a_content_type_is_not_needed(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.send_as(witness.valid(operation), Content_Type=None).ok, operation


@shows("content-type-charset")
def a_charset_is_fine(witness: Witness) -> None:
    for operation in witness.operations:
        answer = witness.send_as(witness.valid(operation), Content_Type="application/json; charset=utf-8")
        assert answer.ok, operation
