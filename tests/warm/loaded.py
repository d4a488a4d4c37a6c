"""All that a server may ever load, imported once by the process that warm servers are forked from."""

from __future__ import annotations

import importlib
import pkgutil

import anyio._backends._asyncio
import anyio.abc  # noqa: F401

import pinfold
from pinfold.context.tokens import count

for _module in pkgutil.walk_packages(pinfold.__path__, "pinfold."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)

count("")  # the vocabulary
