"""Reads fields that hang on nothing but the value they belong to without the steps that only other resolvers need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any
from weakref import WeakMethod, ref

from graphql import (
    FieldNode,
    GraphQLBoolean,
    GraphQLError,
    GraphQLField,
    GraphQLID,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfoHelpers,
    GraphQLSchema,
    GraphQLString,
    Undefined,
    get_argument_values,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_specified_scalar_type,
)
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter

PLAIN = "contextql-plain"
SIMPLE = frozenset({str, int, float, bool, dict, datetime})
"""Types of values that need no awaiting and no looking into."""
LISTS = frozenset({list, tuple})
KEPT: dict[Any, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}
"""Values of these types are what the scalar makes of them."""
FIXED_MOST = 60
"""Of how many fields a way is kept from one request to the next."""
NOT_PLAIN = object()
"""What a short way gives when the field must go the whole way."""

Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class PlainField:
    """How a field's value is read from the value it belongs to, and what its type makes of it."""

    read: Read
    nullable: bool
    coerce: Callable[[Any], Any] | None = None
    """Of a leaf, or of the items of a list of leaves."""
    is_list: bool = False
    kept: type | None = None
    """The type of the values that `coerce` gives back as they are."""
    kind: GraphQLObjectType | None = None
    """Of an object, whose own fields are executed."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """The arguments that may be given on the short way: their names in Python by those in the schema."""

    def given(self, values: Mapping[str, Any]) -> PlainField:
        """The same field with arguments."""
        return replace(self, read=partial(self.read, **{self.takes[name]: value for name, value in values.items()}))

    def leaf(self, source: Any) -> Any:
        """The value of a leaf or of a list of leaves; NOT_PLAIN for a stage and for what the type refuses."""
        try:
            value = self.read(source)
            if type(value) is self.kept:
                return value
            if value is None and self.nullable:
                return None
            if not self.is_list:
                return self._simple(value)
            if type(value) not in LISTS:
                return NOT_PLAIN
            items = [self._simple(item) for item in value]
        except Exception:  # it comes again on the whole way, with its place in the answer
            return NOT_PLAIN
        return NOT_PLAIN if NOT_PLAIN in items else items

    def _simple(self, value: Any) -> Any:
        if type(value) not in SIMPLE or self.coerce is None:
            return NOT_PLAIN
        coerced = self.coerce(value)
        return NOT_PLAIN if coerced is None or coerced is Undefined else coerced

    def object(self, source: Any) -> Any:
        """The value of an object; NOT_PLAIN for null, a stage, and what is not of the type."""
        try:
            value = self.read(source)
        except Exception:
            return NOT_PLAIN
        return value if self.kind is not None and belongs_to(self.kind, value) else NOT_PLAIN


def belongs_to(kind: GraphQLObjectType, value: Any) -> bool:
    """Whether a value is one of a type that can tell its values without knowing the request."""
    return kind.is_type_of is not None and kind.is_type_of(value, None) is True  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Way:
    """The short way to a field of an operation: how it is read, and of an object the ways to all fields that are asked of it."""

    plain: PlainField
    inner: tuple[tuple[str, Way], ...] | None = None

    def value(self, source: Any) -> Any:
        """The answer for a field; NOT_PLAIN when it, or a field of an object, is not there at once or fails."""
        if self.inner is None:
            return self.plain.leaf(source)
        value = self.plain.object(source)
        if value is NOT_PLAIN:
            return NOT_PLAIN
        answer: dict[str, Any] = {}
        for name, way in self.inner:
            found = answer[name] = way.value(value)
            if found is NOT_PLAIN:
                return NOT_PLAIN
        return answer


Step = tuple[str, Any, Way | None]
"""A name in the answer, the nodes of its field, and the short way if the field has one."""


class PlainFieldsFirst(StrawberryGraphQLCoreExecutionContext):
    """An executor that takes the short way where it gives the same; most fields of an answer are plain.

    Whatever is not simple (a stage, a value that its type refuses) goes the whole way, so errors are the same. A plain
    field is then read twice, which is why a field is plain only when reading it does nothing else.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._plans: dict[tuple[str, int], tuple[Any, list[Step]]] = {}
        self.async_helpers = GraphQLResolveInfoHelpers(weakly(self.gather_async_work), weakly(self.track_async_work))
        self._short = not getattr(self.middleware_manager, "middlewares", None)

    def execute_fields(
        self, parent_type: GraphQLObjectType, source_value: Any, path: Any, grouped_field_set: Any, position_context: Any
    ) -> Any:
        """The values of the fields of one object, by name; awaitable when one of them is."""
        left: dict[str, Any] = {}
        results: dict[str, Any] = {}
        for name, details, way in self._plan(parent_type, grouped_field_set):
            value = NOT_PLAIN if way is None else way.value(source_value)
            results[name] = value
            if value is NOT_PLAIN:
                left[name] = details
        if not left:
            return results
        rest: Any = super().execute_fields(parent_type, source_value, path, left, position_context)
        if self.is_awaitable(rest):
            return self._merged_later(results, rest)
        return merged(results, rest)

    async def _merged_later(self, results: dict[str, Any], rest: Any) -> dict[str, Any]:
        return merged(results, await rest)

    def _plan(self, parent_type: GraphQLObjectType, grouped_field_set: Any) -> list[Step]:
        """What to do for each field, the same for all objects of a list."""
        key = (parent_type.name, id(grouped_field_set))
        known = self._plans.get(key)
        if known is None:  # kept with the plan, so that no other one takes its id
            plan = [(name, details, self._known_way(parent_type, details)) for name, details in grouped_field_set.items()]
            known = self._plans[key] = (grouped_field_set, plan)
        return known[1]

    def _known_way(self, parent_type: GraphQLObjectType, details: Any) -> Way | None:
        """The short way to a field; what hangs on no variable is looked for once a document and not once a request."""
        if len(details) != 1 or not self._short:
            return self._way(parent_type, details)
        node = details[0].node
        known = _WAYS.get(parent_type, node)
        if known is None:
            known = self._way(parent_type, details)
            if known is not None and is_fixed(node):
                _WAYS.keep(parent_type, node, known)
        return known

    def _way(self, parent_type: GraphQLObjectType, details: Any) -> Way | None:
        """The short way to a field; None when it, or a field that is asked of it, has none."""
        node = details[0].node
        field = parent_type.fields.get(node.name.value)
        plain: PlainField | None = field.extensions.get(PLAIN) if self._short and field is not None else None
        given = node.arguments or ()
        if plain is None or field is None or any(argument.name.value not in plain.takes for argument in given):
            return None
        try:
            if given:
                fragment_variables = details[0].fragment_variable_values
                plain = plain.given(get_argument_values(field, node, self.variable_values, fragment_variables))
            return Way(plain) if plain.kind is None else self._way_to_object(plain, plain.kind, details)
        except GraphQLError:  # it comes again on the whole way
            return None

    def _way_to_object(self, plain: PlainField, kind: GraphQLObjectType, details: Any) -> Way | None:
        inner: list[tuple[str, Way]] = []
        for name, below in self.collect_subfields(kind, details).grouped_field_set.items():
            way = self._way(kind, below)
            if way is None:
                return None
            inner.append((name, way))
        return Way(plain, tuple(inner))


class Ways:
    """Short ways by type and node of a document; none holds its node, and the one that was found first goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[int, int], tuple[Any, Any, Way]] = {}

    def get(self, parent_type: GraphQLObjectType, node: FieldNode) -> Way | None:
        """The way that was kept for this very node under this very type."""
        known = self._known.get((id(parent_type), id(node)))
        return known[2] if known is not None and known[0]() is parent_type and known[1]() is node else None

    def keep(self, parent_type: GraphQLObjectType, node: FieldNode, way: Way) -> None:
        """Keep a way."""
        self._known[id(parent_type), id(node)] = (ref(parent_type), ref(node), way)
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]


_WAYS = Ways(most=512)


def is_fixed(node: FieldNode, most: int = FIXED_MOST) -> bool:
    """Whether what is selected hangs on no variable and no fragment, and is not too much to keep."""
    left = [node]
    for one in left:  # which grows by what is selected
        selected = one.selection_set.selections if one.selection_set else ()
        if one.arguments or one.directives or len(left) + len(selected) > most:
            return False
        for selection in selected:
            if not isinstance(selection, FieldNode):
                return False
            left.append(selection)
    return True


def weakly(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A bound method that does not hold what it is bound to: an executor that holds itself stays, with all that it met, until
    cycles are looked for."""
    return partial(called, WeakMethod(method))


def called(method: WeakMethod[Callable[[Any], Any]], values: Any) -> Any:
    """What the method gives; only what it is bound to has it called, so that is there."""
    bound = method()
    assert bound is not None
    return bound(values)


def merged(results: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """The results with those of the whole way in their places; a field that gave nothing is left out."""
    both = ((name, rest.get(name, NOT_PLAIN) if value is NOT_PLAIN else value) for name, value in results.items())
    return {name: value for name, value in both if value is not NOT_PLAIN}


def mark_plain_fields(schema: GraphQLSchema) -> None:
    """Note on each field that hangs on its value alone how it is read."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType):
            for field in kind.fields.values():
                found = plain_field(field)
                if found is not None:
                    field.extensions[PLAIN] = found


def plain_field(field: GraphQLField) -> PlainField | None:
    """The short way to a field; None for one that needs the request, that waits, or whose type is abstract."""
    read = reading(field)
    if read is None:
        return None
    kind, nullable = get_nullable_type(field.type), not isinstance(field.type, GraphQLNonNull)
    if is_leaf_type(kind):
        return PlainField(read, nullable, kind.coerce_output_value, kept=KEPT.get(kind), takes=plain_arguments(field))
    if is_object_type(kind):
        return PlainField(read, nullable, kind=kind)
    item = get_nullable_type(kind.of_type) if is_list_type(kind) else None
    return PlainField(read, nullable, item.coerce_output_value, is_list=True) if is_leaf_type(item) else None


def plain_arguments(field: GraphQLField) -> dict[str, str]:
    """The arguments of a field where all come to its resolver as GraphQL gives them: numbers, strings and booleans."""
    named = {name: argument.extensions[GraphQLCoreConverter.DEFINITION_BACKREF] for name, argument in field.args.items()}
    kinds = [get_nullable_type(argument.type) for argument in field.args.values()]
    plain = all(is_leaf_type(kind) and is_specified_scalar_type(kind) for kind in kinds)
    return {name: one.python_name for name, one in named.items() if plain and not one.is_maybe}


def reading(field: GraphQLField) -> Read | None:
    """What gives the value of a field without arguments from the value that it belongs to."""
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if definition is None or definition.extensions:
        return None
    resolver = definition.base_resolver
    if resolver is None:
        return attrgetter(definition.python_name)
    needed = [one.name for one in signature(resolver.wrapped_func).parameters.values() if one.default is Parameter.empty]
    hangs_on_value = needed == ["root"]
    function: Read = resolver.wrapped_func
    return function if hangs_on_value and not definition.is_async else None
