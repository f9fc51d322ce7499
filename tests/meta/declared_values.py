"""Values drawn from the declarations of `contracts.file_formats`, and values that are altered somewhere."""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import inspect

TEXTS = st.sampled_from(["", "x", "../../x", "\ud800", "\x1b[2J\x00", "::error::forged", "\u202e\u2028"])
#: Any JSON value, odd texts and numbers beyond all measure included.
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.sampled_from([-1, 0, 0.5, 10**30, 10**4000]) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
_LEFT_OUT = object()


def fitting(*shapes: Any) -> SearchStrategy[Any]:
    """JSON values that have the members and kinds of a declaration, what it may lack at times left out."""
    return st.one_of(*(_of(inspect.type_info(shape)) for shape in shapes))


def _of(part: Any) -> SearchStrategy[Any]:
    return _KINDS[type(part)](part)


def _object(part: Any) -> SearchStrategy[Any]:
    always = {each.encode_name: _of(each.type) for each in part.fields if each.required}
    at_times = {each.encode_name: _of(each.type) for each in part.fields if not each.required}
    return st.fixed_dictionaries(always, optional=at_times)


def _text(part: Any) -> SearchStrategy[Any]:
    if part.pattern:
        return st.from_regex(part.pattern)
    # What complains may quote it; the command that shows that makes one line of it.
    return st.text(st.characters(exclude_characters="\n"), min_size=part.min_length or 0, max_size=9)


def _list(part: Any) -> SearchStrategy[Any]:
    return st.lists(_of(part.item_type), max_size=2)


_KINDS: dict[type, Callable[[Any], SearchStrategy[Any]]] = {
    inspect.Metadata: lambda part: _of(part.type),
    inspect.EnumType: lambda part: st.sampled_from([member.value for member in part.cls]),
    inspect.DateType: lambda _: st.just("2026-01-01"),
    inspect.AnyType: lambda _: ANYTHING,
    inspect.NoneType: lambda _: st.none(),
    inspect.BoolType: lambda _: st.booleans(),
    inspect.IntType: lambda part: st.integers(part.ge, part.le),
    inspect.FloatType: lambda part: st.floats(part.ge, part.le, allow_nan=False, allow_infinity=False),
    inspect.StrType: _text,
    inspect.LiteralType: lambda part: st.sampled_from(list(part.values)),
    inspect.UnionType: lambda part: st.one_of(*map(_of, part.types)),
    inspect.TupleType: lambda part: st.tuples(*map(_of, part.item_types)).map(list),
    inspect.VarTupleType: _list,
    inspect.ListType: _list,
    inspect.DictType: lambda part: st.dictionaries(_of(part.key_type), _of(part.value_type), max_size=2),
    inspect.StructType: _object,
    inspect.DataclassType: _object,
}


@st.composite
def altered(draw: st.DrawFn, values: SearchStrategy[Any]) -> Any:
    """A value of which one part is another value, is left out, or has a member more."""
    value = draw(values)
    place = draw(st.sampled_from(list(_places(value))))
    return _put(value, place, draw(st.just(_LEFT_OUT) | ANYTHING))


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    for step, inner in _members(value):
        yield from _places(inner, (*place, step))
    if isinstance(value, dict):
        yield (*place, "further")


def _members(value: Any) -> Iterator[tuple[Any, Any]]:
    yield from (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )


def _put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return None if new is _LEFT_OUT else new
    step, *rest = place
    if isinstance(value, list):
        inner = [_put(value[step], tuple(rest), new)] if rest or new is not _LEFT_OUT else []
        return [*value[:step], *inner, *value[step + 1 :]]
    kept = {name: member for name, member in value.items() if name != step}
    return kept if not rest and new is _LEFT_OUT else {**kept, step: _put(value.get(step), tuple(rest), new)}
