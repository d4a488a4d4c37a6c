"""Arguments as a model sends them: one flat model per tool, every field read by its `Check`.

What is unknown or missing is refused by name, in one line that says what is accepted. Source: design 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict

from pinfold.store.cleaning import texts_in
from pinfold.store.errors import InvalidInputError
from pinfold.tools.checks import Check, meant
from pinfold.tools.pointers import quote

if TYPE_CHECKING:
    from pinfold.store.redaction import Redactor


class Arguments(BaseModel):
    """Base of the five argument models; what is not given holds its default, which is falsy or usual."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


A = TypeVar("A", bound=Arguments)


@cache
def checks(model: type[Arguments]) -> Mapping[str, Check]:
    """Return each argument's check, in the order of the schema."""
    return {
        name: next(mark for mark in field.metadata if isinstance(mark, Check))
        for name, field in model.model_fields.items()
    }


def accept(model: type[A], raw: Mapping[str, object] | None) -> A:
    """Return the arguments of one call, checked.

    Raises `InvalidInputError` for an unknown, a missing or an unfit argument, `TooLargeError` for one over
    its limit.
    """
    if raw is not None and not isinstance(raw, Mapping):
        raise InvalidInputError(f"Arguments cannot be {quote(raw)}.", "Send an object with named arguments.")
    given = dict(raw or {})
    known = checks(model)
    for name in given:
        if name not in known:
            _refuse_unknown(name, tuple(known))
    given = {name: value for name, value in given.items() if not _says_nothing(model, name, value)}
    for name, field in model.model_fields.items():
        if field.is_required() and name not in given:
            raise InvalidInputError(f"`{name}` is missing.", f"Required: {_required(model)}.")
    return model.model_validate(given)


def _says_nothing(model: type[Arguments], name: str, value: object) -> bool:
    """Whether a value means "not given": null, or an empty string, with which some models fill what they leave out."""
    check = checks(model)[name]
    if not check.takes_null:
        return False
    return value is None or (check.takes_empty and value == "" and not model.model_fields[name].is_required())


def _refuse_unknown(name: object, known: tuple[str, ...]) -> None:
    short = quote(name, mark="`")
    raise InvalidInputError(
        f"{short} is not an argument{meant(str(name), known)}", f"Accepted: {', '.join(known)}."
    )


def _required(model: type[Arguments]) -> str:
    return ", ".join(name for name, field in model.model_fields.items() if field.is_required())


def redacted(arguments: A, redactor: Redactor) -> tuple[A, Counter[str]]:
    """Return the arguments with known secret shapes replaced in what may be stored, and how many by rule."""
    found: Counter[str] = Counter()
    kept = {
        name: getattr(arguments, name) for name, check in checks(type(arguments)).items() if check.is_kept()
    }
    if redactor.is_plain(texts_in(tuple(kept.values()))):
        return arguments, found

    def clean(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(clean, value))
        if not isinstance(value, str):
            return value
        result = redactor.text(value)
        found.update(dict(result.found))
        return result.text

    changed = {name: clean(value) for name, value in kept.items()}
    return arguments.model_copy(update=changed), found


def without_secrets(raw: Any, redactor: Redactor) -> Any:
    """Return a call's arguments as they came, with known secret shapes replaced in every text and name."""
    if isinstance(raw, str):
        return redactor.text(raw).text
    if isinstance(raw, list):
        return [without_secrets(item, redactor) for item in raw]
    if isinstance(raw, Mapping):
        return {without_secrets(name, redactor): without_secrets(raw[name], redactor) for name in raw}
    return raw


def input_schema_of(model: type[Arguments]) -> dict[str, Any]:
    """Return the model's JSON schema (2020-12) with nothing in it that a reader would not miss."""
    properties: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        described = checks(model)[name].schema()
        if field.description:
            described["description"] = field.description
        if field.default and not field.is_required():
            described["default"] = field.default
        properties[name] = described
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}
