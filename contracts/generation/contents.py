"""Contents that services tend to spoil: texts of many scripts, text at the edges of Unicode, odd structures.

The interface document does not show the body of a draft. A contact record with text in its documented fields is
safe to claim about; everything else here is for observation.
"""

from __future__ import annotations

from typing import Any, Final

from contracts.generation.samples import Samples

#: Plain text in several scripts, by language code; all of it composed (NFC), so that it has one form only.
SCRIPTS: Final[dict[str, str]] = {
    "en": "Quotes \" ' `, slashes / \\, braces {} [] <=>, 100 % & $ref; -- # ? ~ |",
    "fr": "L’été à Noël : cœur, façade, où, naïveté, « Çà et là »",
    "es": "¿Qué tal, señor Muñoz? ¡Año nuevo!",
    "ar": "السجل المشترك للوثائق ١٢٣ (abc) نهاية",
    "zh": "文件登记处 𠜎𠮷 繁體與简体",
    "ru": "Съешь ещё этих мягких французских булок, да выпей чаю",
}
#: Characters beyond the basic plane: each is two units to UTF-16 and four bytes to UTF-8.
BEYOND_THE_BASIC_PLANE: Final = "\U0001d49c 𐍈 🌍 👩\u200d🔬 🇰🇪 𠀋 end"

#: Text that may be tidied by a service that means well, by what would be lost.
DELICATE: Final[dict[str, str]] = {
    "decomposed": "e\u0301 and \u00e9, A\u030a and \u00c5, o\u0323\u0302, \ufb01 and fi, \u2126 and \u03a9",
    "edges": "  two spaces before and after  ",
    "lines": "one\r\ntwo\nthree\rfour\tfive",
    "markup": "<b>bold</b> &amp; &#233; <script>x</script> <!-- c -->",
    "invisible": "soft\u00adhyphen, zero\u200bwidth, mark\ufeffinside, \u202eturned\u202c, line\u2028end",
}
_CONTROLS: Final = "bell \x07 escape \x1b delete \x7f last \uffff"

#: One object a name; what becomes of it in a draft is not shown.
STRUCTURES: Final[dict[str, Any]] = {
    "unknown members": {"plain": 1, "with.dot": 2, "$dollar": 3, "": 4, "__proto__": {"a": 1}},
    "key case": {"Note": "upper", "note": "lower", "NOTE": "all upper"},
    "empty containers": {"object": {}, "array": [], "text": "", "arrays": [[], [{}]]},
    "null": {"nothing": None, "inside": [None, {"nothing": None}]},
    "numbers": {
        "whole": [0, -1, 2**31, 2**53 - 1, 2**53 + 1, 2**63],
        "broken": [0.1, -1.5, 1e-7, 1e21, 5e-324, 1.7976931348623157e308],
    },
}
_DEPTHS: Final = (20, 100)


def changed(document: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """What a document holds that the usual one does not, header aside: what a case with it is about."""
    return {name: value for name, value in document.items() if name != "header" and usual.get(name) != value}


def many_scripts(samples: Samples, uid: str) -> dict[str, Any]:
    """A contact record with text in several scripts in its string and lstring fields."""
    header = samples.header(samples.draft_schema, uid) | {"languages": list(SCRIPTS)}
    return samples.draft(
        uid,
        header=header,
        firstName="Ñandú Łukasz Þór",
        middleName=BEYOND_THE_BASIC_PLANE,
        lastName="O'Neill-Жуков 王",
        organization=dict(SCRIPTS),
        relevantInformation={"en": BEYOND_THE_BASIC_PLANE, "ar": SCRIPTS["ar"]},
    )


def delicate_text(samples: Samples, uid: str) -> dict[str, Any]:
    """A contact record with text that is easily tidied away."""
    return samples.draft(
        uid,
        firstName=DELICATE["decomposed"],
        lastName=DELICATE["edges"],
        address={"en": DELICATE["lines"]},
        designation={"en": DELICATE["markup"]},
        relevantInformation={"en": DELICATE["invisible"]},
    )


def control_characters(samples: Samples, uid: str) -> dict[str, Any]:
    """A contact record with control characters, but not the null that some databases cannot hold."""
    return samples.draft(uid, relevantInformation={"en": _CONTROLS})


def long_text(samples: Samples, uid: str, length: int) -> dict[str, Any]:
    """A contact record with one text of `length` characters; no two stretches of it are the same."""
    text = " ".join(f"{number:06d}é" for number in range(length // 8 + 1))[:length]
    return samples.draft(uid, relevantInformation={"en": text})


def odd_structures(samples: Samples, uid: str) -> dict[str, dict[str, Any]]:
    """Records with something in them that no documented field has, by name."""
    found = {name: samples.draft(uid, extra=value) for name, value in STRUCTURES.items()}
    deep = {f"{depth} levels": samples.draft(uid, extra=nested(depth)) for depth in _DEPTHS}
    return found | deep | {"null character": samples.draft(uid, firstName="a\x00b")}


def incomplete(samples: Samples, uid: str) -> dict[str, dict[str, Any]]:
    """Records that a contact record must not be, by what is wrong with them."""
    whole = samples.draft(uid)
    return {
        "empty": {},
        "mandatory missing": {name: value for name, value in whole.items() if name != "lastName"},
        "wrong kind": whole | {"emails": "wangari.maathai@example.test"},
        "unknown term": whole | {"country": {"identifier": "no-such-term"}},
    }


def several_items(samples: Samples, uid: str) -> dict[str, Any]:
    """A contact record whose arrays hold several items, neither in rising nor in falling order."""
    return samples.draft(
        uid,
        phones=["+254 2", "+254 9", "+254 1"],
        emails=["m@example.test", "z@example.test", "a@example.test"],
        websites=[{"url": f"https://{name}.example.test/"} for name in ("m", "z", "a")],
    )


def nested(depth: int) -> Any:
    """Objects in objects, `depth` deep."""
    value: Any = "the bottom"
    for level in range(depth):
        value = {f"level{level}": value}
    return value
