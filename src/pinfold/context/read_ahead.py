"""Two stages of one stream side by side: the first fills a short queue on a thread, the second empties it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Full, Queue

_BLOCKS_AHEAD = 4
_LOOK_S = 0.1


def read_ahead(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks, at most a few of them read ahead on a thread; raises what reading them raises.

    Hashing, compressing and searching let go of the interpreter, so the two stages share two cores. The thread ends
    with the stream, or when the caller stops.
    """
    queue: Queue[bytes | BaseException | None] = Queue(_BLOCKS_AHEAD)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                queue.put(item, timeout=_LOOK_S)
            except Full:
                continue
            return True
        return False

    def fill() -> None:
        try:
            for block in blocks:
                if not put(block):
                    return
            put(None)
        except BaseException as error:  # handed over to the caller
            put(error)

    thread = threading.Thread(target=fill, name="pinfold-read-ahead", daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()
