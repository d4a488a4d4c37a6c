"""A way to a server that is cut at a word of the client: before the server hears it, or before it is answered."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Literal, Self
from urllib.parse import urlsplit, urlunsplit

Moment = Literal["unheard", "unanswered"]


class Proxy:
    """Passes bytes on, each connection on two threads, until it is told to cut."""

    def __init__(self, server: str) -> None:
        self._parts = urlsplit(server)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._word: bytes | None = None
        self._moment: Moment = "unheard"
        self._links: list[socket.socket] = []
        self.cuts = 0
        self.was_cut = threading.Event()

    @property
    def address(self) -> str:
        """The database's address through here."""
        login = self._parts.netloc.rpartition("@")[0]
        port = self._door.getsockname()[1]
        return urlunsplit(self._parts._replace(netloc=f"{login}@127.0.0.1:{port}"))

    def cut_at(self, word: bytes, moment: Moment) -> None:
        """Cut the first connection on which this word passes by; later ones are whole again."""
        self.was_cut.clear()
        self._word, self._moment = word, moment

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()
        _close(*self._links)

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self._links.append(client)
                try:
                    server = socket.create_connection(
                        (self._parts.hostname or "", self._parts.port or 5432), 10
                    )
                except OSError:  # it was killed
                    client.close()
                    continue
                server.settimeout(None)
                self._links.append(server)
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
                threading.Thread(target=self._back, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while said := client.recv(65536):
                if self._word is not None and self._word in said:
                    self._word = None
                    self.cuts += 1
                    self.was_cut.set()
                    if self._moment == "unanswered":
                        client.shutdown(socket.SHUT_RDWR)  # the way back is closed before the server answers
                        server.sendall(said)
                        self._heard(server)
                    break
                server.sendall(said)
        _close(client, server)

    def _heard(self, server: socket.socket) -> None:
        """Let the server finish: what it says ends on the other thread, which finds nobody to tell."""
        server.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            while server.recv(65536):
                pass

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while answer := server.recv(65536):
                client.sendall(answer)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def _close(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
