"""A client's configuration as text, with our entries put in or taken out."""

from __future__ import annotations

from collections.abc import Sequence

from pinfold.server.install.entries import Entry, Item, Keys, Member, Syntax, Target, Tree, UnfitTextError
from pinfold.server.install.trees import MISSING, find


def with_entries(target: Target, text: str) -> str:
    """Return the text with all entries of a target in it; the same text where they are there.

    Raises `UnfitTextError`.
    """
    for entry in target.entries:
        _check_shape(target.syntax.read(text), entry)
        text = _with(target.syntax, text, entry)
    return text


def without_entries(target: Target, text: str, original: str | None) -> str:
    """Return the text without our entries, and with what stood in their place in `original`.

    What held nothing but ours goes too, unless `original` had it. None: what was there before is unknown.
    Raises `UnfitTextError`.
    """
    tree = target.syntax.read(text)
    former = {} if original is None else target.syntax.read(original)
    for entry in target.entries:
        _check_shape(tree, entry)
        if isinstance(entry, Member):
            text = _without_member(target.syntax, text, entry, former)
        else:
            text = _without_items(target.syntax, text, entry, former)
        text = _without_empty(target.syntax, text, entry.path, former)
    if original and not original.endswith("\n") and not text.removesuffix("\n").endswith("\n"):
        text = text.removesuffix("\n").removesuffix("\r")
    return text


def _with(syntax: Syntax, text: str, entry: Entry) -> str:
    tree = syntax.read(text)
    found = find(tree, entry.path)
    if isinstance(entry, Member):
        wanted = entry.merged(found)
        return text if found == wanted else syntax.put(text, entry.path, wanted)
    ours = _owned(tree, entry)
    if [found[index] for index in ours] == [entry.value]:
        return text
    for index in reversed(ours):
        text = syntax.drop_item(text, entry.path, index)
    return syntax.append(text, entry.path, entry.value)


def _without_member(syntax: Syntax, text: str, entry: Member, former: Tree) -> str:
    found, before = find(syntax.read(text), entry.path), find(former, entry.path)
    if found is MISSING or found == before:
        return text
    return syntax.drop(text, entry.path) if before is MISSING else syntax.put(text, entry.path, before)


def _without_items(syntax: Syntax, text: str, entry: Item, former: Tree) -> str:
    tree = syntax.read(text)
    before = [find(former, entry.path)[index] for index in _owned(former, entry)]
    for index in reversed(_owned(tree, entry)):
        if find(tree, entry.path)[index] not in before:
            text = syntax.drop_item(text, entry.path, index)
    for value in before:
        found = find(syntax.read(text), entry.path)
        if found is MISSING or value not in found:
            text = syntax.append(text, entry.path, value)
    return text


def _without_empty(syntax: Syntax, text: str, path: Keys, former: Tree) -> str:
    """Drop what is empty on the way to `path`, from the inside out."""
    for end in range(len(path), 0, -1):
        here = path[:end]
        if find(syntax.read(text), here) in ({}, []) and find(former, here) is MISSING:
            text = syntax.drop(text, here)
    return text


def _owned(tree: Tree, entry: Item) -> Sequence[int]:
    items = find(tree, entry.path)
    return [] if items is MISSING else [place for place, item in enumerate(items) if entry.owns(item)]


def _check_shape(tree: Tree, entry: Entry) -> None:
    """Refuse a configuration that holds something else where an object or an array has to be."""
    last = len(entry.path) if isinstance(entry, Item) else len(entry.path) - 1
    for end in range(1, last + 1):
        found = find(tree, entry.path[:end])
        kind = list if isinstance(entry, Item) and end == last else dict
        if found is not MISSING and not isinstance(found, kind):
            word = "list" if kind is list else "object"
            raise UnfitTextError(0, f"{'.'.join(entry.path[:end])!r} is not a{'n' * (kind is dict)} {word}")
