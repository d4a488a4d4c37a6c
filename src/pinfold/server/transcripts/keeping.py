"""How what a transcript says is kept: as messages, with what is too long or no text beside them as artifacts."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pinfold.context.estimate import rough
from pinfold.context.visible import clip, clip_front, shorten
from pinfold.server.transcripts.items import Picture, Spoken
from pinfold.server.transcripts.saying import pins_in
from pinfold.store.commands import Message, SpillArtifact
from pinfold.store.redaction import Redactor
from pinfold.store.values import MAX_ARTIFACT_BYTES, Caller

MAX_CHARS = 64 * 1024
"""What is longer is kept whole as an artifact; its message shows beginning and end."""

_HEAD_CHARS = 4_000
_TAIL_CHARS = 2_000
_LABEL_CHARS = 120
_SOURCE = "transcript"


@dataclass(frozen=True, slots=True)
class Keeper:
    """Makes messages of one conversation; whoever stores them then closes their artifacts."""

    caller: Caller
    redactor: Redactor

    def message(self, spoken: Spoken) -> Message:
        """Return one message, its tokens estimated, with the pins that are said in it."""
        if spoken.conversation not in (None, self.caller.conversation):
            return replace(self, caller=replace(self.caller, conversation=spoken.conversation)).message(
                spoken
            )
        long = len(spoken.text) > MAX_CHARS
        name = spoken.ran or spoken.tool or spoken.role
        artifacts = [self.artifact([spoken.text.encode()], name)] if long else []
        artifacts += [kept for picture in spoken.pictures if (kept := self._picture(picture))]
        return Message(
            role=spoken.role,
            text=self._ends(spoken.text) if long else spoken.text,
            external_id=spoken.external_id,
            at=spoken.at,
            tool=spoken.tool,
            call_id=spoken.call_id,
            files=spoken.files,
            tokens=rough(spoken.text),
            artifacts=tuple(artifacts),
            pins=pins_in(spoken, self.caller, self.redactor),
            conversation=spoken.conversation,
        )

    def artifact(self, blocks: Iterable[bytes], label: str, source: str = _SOURCE) -> SpillArtifact:
        """Return bytes, redacted as their label is, on their way to be kept aside. Raises `TooLargeError`."""
        from pinfold.context.drafting import draft  # with what packs bytes, which text alone does not need

        made = draft(self.redactor, blocks, MAX_ARTIFACT_BYTES, exact=False)
        named = shorten(self.redactor.text(label).text, _LABEL_CHARS)
        return SpillArtifact(self.caller, made.content, made.outline, named, source, aside=True)

    def _picture(self, picture: Picture) -> SpillArtifact | None:
        try:
            content = base64.b64decode(picture.base64)
        except ValueError:
            return None
        return self.artifact([content], picture.media_type)

    def _ends(self, text: str) -> str:
        """Return beginning and end; half of a secret would not be known for one, so they are replaced before."""
        clean = self.redactor.text(text).text
        head, tail = clip(clean, _HEAD_CHARS), clip_front(clean, _TAIL_CHARS)
        return f"{head}\n[… {len(clean) - len(head) - len(tail):,} characters between, whole in …]\n{tail}"


def let_go(messages: Iterable[Message]) -> None:
    """Close what messages bring along."""
    for artifact in _artifacts(messages):
        artifact.content.close()


def _artifacts(messages: Iterable[Message]) -> Iterator[SpillArtifact]:
    return (artifact for message in messages for artifact in message.artifacts)
