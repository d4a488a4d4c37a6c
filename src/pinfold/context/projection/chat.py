"""A model's summary, from any endpoint with OpenAI's chat interface (Ollama has it, too).

The key comes from `PINFOLD_CHAT_KEY`, is sent to that endpoint only and is in no error; nor is what an address may hold
of one, before its `@` and behind its `?`. Source: design 4 (summarizers).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pinfold.context.projection.folding import Summarizer
from pinfold.context.projection.history import Message
from pinfold.context.visible import shorten, visible
from pinfold.store.errors import InvalidInputError, PinfoldError

TIME_LIMIT_S = 120.0
_TRIES = 2
_PLACE = "/chat/completions"
_ASKED = (
    "Summarize the conversation below as its working state: goal, facts, decisions with their reasons, pending work,"
    " constraints. Keep names, numbers and reasons as they stand. At most {words} words. Only the summary."
)


class ChatError(PinfoldError):
    """The endpoint gave no summary."""

    code = "summarizer"


def chat(
    url: str, model: str, *, limit_s: float = TIME_LIMIT_S, environment: Mapping[str, str] = os.environ
) -> Summarizer:
    """Return a summarizer that asks `model` at `url`; one retry, `limit_s` for each try.

    Raises `InvalidInputError` for what is no address; the summarizer raises `ChatError`.
    """
    place = _place(url)
    key = environment.get("PINFOLD_CHAT_KEY", "")

    async def summarize(messages: Sequence[Message], budget: int) -> str:
        body = {"model": model, "messages": _asked(messages, budget), "temperature": 0, "stream": False}
        return _text(await _post(place, body, key, limit_s))

    return summarize


def _place(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInputError(
            "What was given is no address of an endpoint.", "It looks like http://127.0.0.1:11434/v1."
        )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(_PLACE) else path + _PLACE, fragment="")


def _told(place: SplitResult) -> str:
    return shorten(visible(place._replace(netloc=place.netloc.rpartition("@")[2], query="").geturl()), 200)


def _asked(messages: Sequence[Message], budget: int) -> list[dict[str, str]]:
    said = "\n\n".join(f"{each.role}: {each.text}\n{each.inputs}".rstrip() for each in messages)
    return [
        {"role": "system", "content": _ASKED.format(words=max(20, budget * 3 // 4))},
        {"role": "user", "content": said},
    ]


async def _post(place: SplitResult, body: Mapping[str, Any], key: str, limit_s: float) -> Any:
    import anyio
    import httpx2  # 70 to 90 ms that nobody else pays

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    trouble = ""
    async with httpx2.AsyncClient(timeout=None, trust_env=False) as client:
        for _ in range(_TRIES):
            try:
                with anyio.fail_after(limit_s):  # a limit of the client's begins anew with each byte
                    answer = await client.post(place.geturl(), json=body, headers=headers)
            except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
                trouble = type(error).__name__
                continue
            if answer.is_success:
                return _json(answer)
            trouble = f"status {answer.status_code}"
            if answer.status_code < 500 and answer.status_code != 429:
                break
    raise ChatError(
        f"{_told(place)} gave no summary ({trouble}).", "Look at the address, the model's name and the key."
    )


def _json(answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _text(answer: Any) -> str:
    match answer:
        case {"choices": [{"message": {"content": str(text)}}, *_]} if text.strip():
            return text.strip()
    raise ChatError("The endpoint's answer holds no summary.", "It has to speak OpenAI's chat interface.")
