"""The same changes as a `Syntax` makes in text, made in plain values: what a changed text has to read as."""

from __future__ import annotations

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
    changed, parent = _copied(tree, path)
    parent[path[-1]] = value
    return changed


def drop(tree: Tree, path: Keys) -> Tree:
    """Return the tree without the member at `path`."""
    changed, parent = _copied(tree, path)
    del parent[path[-1]]
    return changed


def append(tree: Tree, path: Keys, value: object) -> Tree:
    """Return the tree with `value` as the last item of the array at `path`."""
    changed, parent = _copied(tree, path)
    parent[path[-1]] = [*parent.get(path[-1], ()), value]
    return changed


def drop_item(tree: Tree, path: Keys, index: int) -> Tree:
    """Return the tree without one item of the array at `path`."""
    changed, parent = _copied(tree, path)
    items = parent[path[-1]]
    parent[path[-1]] = [*items[:index], *items[index + 1 :]]
    return changed


def _copied(tree: Tree, path: Keys) -> tuple[Tree, Tree]:
    """Return a tree that may be changed along `path`, and the object in it that holds the last key."""
    changed = parent = dict(tree)
    for key in path[:-1]:
        parent[key] = dict(parent.get(key, {}))
        parent = parent[key]
    return changed, parent
