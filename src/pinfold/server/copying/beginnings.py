"""How far two logs are the same: an event's digest covers all that stands before it, so that few are compared."""

from __future__ import annotations

from pinfold.store import Store
from pinfold.store.events import GENESIS


async def digest_at(store: Store, seq: int) -> bytes:
    """Return the digest of the chain at an event that is there; of 0, what stands before the first."""
    return GENESIS if seq == 0 else (await store.logged(seq - 1))[0].digest


async def common_beginning(one: Store, other: Store) -> int:
    """Return the seq of the last event that stands in both logs; 0 for none."""
    same, otherwise = 0, min((await one.log_end()).seq, (await other.log_end()).seq) + 1
    middle = otherwise - 1  # most often all of the shorter one
    while same + 1 < otherwise:
        if await digest_at(one, middle) == await digest_at(other, middle):
            same = middle
        else:
            otherwise = middle
        middle = (same + otherwise) // 2
    return same
