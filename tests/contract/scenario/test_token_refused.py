"""Sign-in requests that must yield no token.

Each case that uses a real account's e-mail ends with a right sign-in, so that counters of failed ones start afresh.
"""

import pytest

from contracts.cases import Actor, Claims, Credentials, Observer, contract, nobodys_email, shape, sign_in


@contract("token-wrong-password", "token-failure-answer", operations=("createToken",))
def test_a_wrong_password_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims, observe: Observer
) -> None:
    """The right password with one more character, or in other letter case, is a wrong one."""
    bodies = [credentials.of("author", password=wrong) for wrong in credentials.near_passwords("author")]
    refused = [author.send("createToken", json=body) for body in bodies]
    sign_in.no_token_from(claim("token-wrong-password"), refused)
    sign_in.token_of(author, credentials.of("author"))
    observe("token-failure-answer", "createToken", shape(refused[0]))


@contract("token-wrong-password", operations=("createToken",))
def test_the_password_of_another_account_yields_no_token(
    other: Actor, credentials: Credentials, claim: Claims
) -> None:
    """A password opens the account it belongs to and no other."""
    refused = other.send("createToken", json=credentials.of("other", password=credentials.password("author")))
    sign_in.no_token_from(claim("token-wrong-password"), [refused])
    sign_in.token_of(other, credentials.of("other"))


@contract("token-unknown-account", operations=("createToken",))
def test_an_unknown_email_yields_no_token(author: Actor, credentials: Credentials, claim: Claims) -> None:
    """An e-mail that belongs to no account opens nothing, with whatever password."""
    refused = author.send("createToken", json=credentials.of("author", email=nobodys_email()))
    sign_in.no_token_from(claim("token-unknown-account"), [refused])


@pytest.mark.parametrize(
    ("clause", "member"),
    [
        pytest.param("token-email-missing", "email", id="email", marks=contract("token-email-missing")),
        pytest.param(
            "token-password-missing", "password", id="password", marks=contract("token-password-missing")
        ),
    ],
)
@contract(operations=("createToken",))
def test_a_missing_or_empty_credential_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims, clause: str, member: str
) -> None:
    """Both e-mail and password are needed, and an empty text is neither."""
    left_out = author.send("createToken", json=credentials.without("author", member))
    empty = author.send("createToken", json=credentials.of("author", **{member: ""}))
    sign_in.no_token_from(claim(clause), [left_out, empty])
    sign_in.token_of(author, credentials.of("author"))


@contract("token-email-kind", operations=("createToken",))
def test_an_email_of_another_kind_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims
) -> None:
    """An e-mail is a string; the right one inside an array, or a query operator, is none."""
    bodies = credentials.emails_of_another_kind("author")
    sign_in.no_token_from(
        claim("token-email-kind"), [author.send("createToken", json=body) for body in bodies]
    )


@contract("token-password-kind", operations=("createToken",))
def test_a_password_of_another_kind_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims
) -> None:
    """A password is a string; the right one inside an array, or a query operator, is none."""
    bodies = credentials.passwords_of_another_kind("author")
    sign_in.no_token_from(
        claim("token-password-kind"), [author.send("createToken", json=body) for body in bodies]
    )
    sign_in.token_of(author, credentials.of("author"))


@contract("token-password-kind", operations=("createToken",))
def test_a_password_that_is_a_number_or_a_truth_value_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims
) -> None:
    """A number or true is no password, and as a text it would be a wrong one."""
    bodies = credentials.plain_passwords_of_another_kind("author")
    sign_in.no_token_from(
        claim("token-password-kind"), [author.send("createToken", json=body) for body in bodies]
    )
    sign_in.token_of(author, credentials.of("author"))


@contract("token-body-kind", operations=("createToken",))
def test_a_body_that_is_no_object_with_both_credentials_yields_no_token(
    author: Actor, credentials: Credentials, claim: Claims
) -> None:
    """Nothing, an empty body, an array or a text does not sign anybody in, though the right words stand in it."""
    bodies = credentials.bodies_of_another_kind("author")
    sign_in.no_token_from(
        claim("token-body-kind"), [author.send("createToken", body=body) for body in bodies]
    )
    sign_in.token_of(author, credentials.of("author"))
