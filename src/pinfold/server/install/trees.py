"""The same changes as a `Syntax` makes in text, made in plain values: what a changed text has to read as."""

from __future__ import annotations

import copy
from typing import Any

from pinfold.server.install.entries import Keys, Tree

MISSING = object()


def find(tree: Tree, path: Keys) -> Any:
    """Return what stands at `path`, else `MISSING`."""
    found: Any = tree
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return MISSING
        found = found[key]
    return found


def put(tree: Tree, path: Keys, value: object) -> Tree:
    """Return the tree with `value` at `path`."""
    changed = copy.deepcopy(tree)
    _parent(changed, path)[path[-1]] = value
    return changed


def drop(tree: Tree, path: Keys) -> Tree:
    """Return the tree without the member at `path`."""
    changed = copy.deepcopy(tree)
    del _parent(changed, path)[path[-1]]
    return changed


def append(tree: Tree, path: Keys, value: object) -> Tree:
    """Return the tree with `value` as the last item of the array at `path`."""
    changed = copy.deepcopy(tree)
    _parent(changed, path).setdefault(path[-1], []).append(value)
    return changed


def drop_item(tree: Tree, path: Keys, index: int) -> Tree:
    """Return the tree without one item of the array at `path`."""
    changed = copy.deepcopy(tree)
    del _parent(changed, path)[path[-1]][index]
    return changed


def _parent(tree: Tree, path: Keys) -> Any:
    """Return the object that holds the last key of `path`; missing ones are made."""
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    return tree
