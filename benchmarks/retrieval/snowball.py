"""bm25s with the Snowball stemmer: the strongest of the plain ways, where the extra `retrieval` is installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.retrieval.baselines import STOP_WORDS
from benchmarks.retrieval.task import Text


class Snowball:
    """Its index is made once for all texts. Raises `ImportError` without bm25s and PyStemmer."""

    name = "bm25s Snowball, stop words off"

    def __init__(self) -> None:
        import bm25s
        import Stemmer

        self._library: Any = bm25s
        self._stemmer: Any = Stemmer.Stemmer("english")

    def hold(self, texts: Iterable[Text]) -> None:
        held = list(texts)
        self._names = [text.name for text in held]
        self._index = self._library.BM25()
        self._index.index(self._words([text.text for text in held]), show_progress=False)

    def find(self, question: str, limit: int) -> list[str]:
        words = self._words([question], return_ids=False)
        if not words[0]:
            return []
        depth = min(limit, len(self._names))
        places, scores = self._index.retrieve(words, k=depth, show_progress=False)
        return [
            self._names[int(place)] for place, score in zip(places[0], scores[0], strict=True) if score > 0
        ]

    def _words(self, texts: list[str], *, return_ids: bool = True) -> Any:
        return self._library.tokenize(
            texts,
            stopwords=sorted(STOP_WORDS),
            stemmer=self._stemmer,
            return_ids=return_ids,
            show_progress=False,
        )

    def index_bytes(self) -> int:
        return sum(int(getattr(part, "nbytes", 0)) for part in self._index.scores.values())

    def close(self) -> None:
        pass
