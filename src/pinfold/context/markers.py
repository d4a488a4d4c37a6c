"""Words by which a sentence reads as a decision, in English, German, French, Spanish, Russian, Chinese and Japanese."""

from __future__ import annotations

import re

_LONGEST_SENTENCE = 1_000

_DECIDED = re.compile(
    r"(?<!\w)(?:decided|decision(?=[\s:])|chose|chosen|settled on|agreed|ruled out|rejected|dead end"
    r"|go(?:ing)? with|opted for|must(?: not|n['’]t)|never|not allowed|forbidden|banned"
    r"|entschieden|entscheidung|gewählt|verworfen|ausgeschlossen|darf (?:nicht|nie|kein\w*)|dürfen nicht|niemals|nie"
    r"|décid(?:é|ée|ons)|décision|choisi|retenu|écarté|exclu|jamais|interdit|ne (?:doit|doivent) pas"
    r"|decid(?:ido|imos|ió)|decisión|eleg(?:ido|imos)|descart(?:ado|amos)|nunca|jamás|prohibido|no debe"
    r"|deciso|scelto|решили|решено|решение|выбрали|отказались|никогда|нельзя)(?!\w)"
    r"|(?:\A\W*|(?:[,;:—–-]|(?<!\w)(?:please|also|and|but|so|then))\s+)(?:do not|don['’]?t|avoid)(?!\w)"
    r"|(?<!\w)(?:nicht (?:ändern|anfassen|verwenden|benutzen)|n(?:e |['’])\w+ez pas|no (?:uses|toques|cambies))(?!\w)"
    r"|决定|決定|决策|选择了|選擇了|排除|禁止|绝不|絕不|不得|不能用|不要|改用|采用|採用|決め|却下|しないで|てはいけない|てはならない|絶対に",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"(?<!\w)(?:must|has to|have to|always|instead of|rather than|because|due to|owing to|so that|root cause|prefer"
    r"|weil|muss|müssen|statt|anstatt|anstelle|damit|sodass|wegen|immer"
    r"|parce que|doit|doivent|au lieu de|plutôt que|à cause de|afin d[e']|pour que|puisque|toujours"
    r"|porque|debe|deben|en lugar de|en vez de|debido a|para que|siempre"
    r"|perché|invece di|потому что|долж(?:ен|на|ны)|вместо|из-за|чтобы|всегда)(?!\w)"
    r"|必须|必須|因为|因為|由于|由於|而不是|以便|总是|總是|必ず|ために|代わりに|ではなく|なければならない|理由",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"(?<!\w)(?:maybe|perhaps|might|possibly|vielleicht|peut-être|quizás?|tal vez|может быть)(?!\w)|也许|可能|かもしれ",
    re.IGNORECASE,
)
_NARRATED = re.compile(
    r"\W*(?:(?:ok(?:ay)?|now|next|first|then|so|and|but|great|good|alright|perfect|also)\W+)*"
    r"(?:let me|let['’]s|let us|(?:I['’]ll|I will) now|now I|I(?:['’]m| am)(?: now)? going to|going to"
    r"|I(?:['’]ll|['’]m| will| need to| should| want to| have to| must)? ?(?:now |first |then |also |just )?"
    r"(?:check|look|read|run|see|try|search|open|inspect|verify|start|continue|update|fix|add|write|create|explore"
    r"|examine|investigate|test|find|view|trace|begin|proceed|make sure|review|implement|edit|grep)(?:ing)?"
    r"|ich (?:werde|schaue|prüfe)|lass(?:en Sie)? mich|je vais|laisse[- ]moi|voy a|déjame|сейчас я|давайте)(?!\w)"
    r"|\W*(?:现在)?(?:让我|我来|我将|我会先|現在我)|\W*(?:では、?)?これから",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[?？؟][\"')\]*_`”’」』）]*\s*\Z")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」")


def strength_of(sentence: str) -> int:
    """Return how much a sentence reads as a decision: 2 decided, 1 firm, 0 neither, a question, or mere narration.

    Words inside code and quotation marks do not count; a sentence of over 1,000 characters is none.
    """
    if len(sentence) > _LONGEST_SENTENCE or _ASKED.search(sentence) or _NARRATED.match(sentence):
        return 0
    own = _QUOTED.sub(" ", sentence)
    strength = 2 if _DECIDED.search(own) else 1 if _FIRM.search(own) else 0
    return max(0, strength - 1) if _HEDGED.search(own) else strength
