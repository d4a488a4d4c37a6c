"""Request projection: what a model is sent this turn, as a pure function of a history and a policy.

A harness keeps a `Conversation`, appends its messages and asks it for the next request; `kept.py` has one that lies
in a store. See docs/harness.md.
"""

from pinfold.context.projection.advancing import Conversation, OverBudgetError, TooLongError
from pinfold.context.projection.folding import Summarizer
from pinfold.context.projection.history import Folded, Hidden, Message, Shortened, Step, Superseded
from pinfold.context.projection.policy import Budget, Cache, Policy
from pinfold.context.projection.request import Request, project
from pinfold.context.projection.summarizers import extractive

__all__ = [
    "Budget",
    "Cache",
    "Conversation",
    "Folded",
    "Hidden",
    "Message",
    "OverBudgetError",
    "Policy",
    "Request",
    "Shortened",
    "Step",
    "Summarizer",
    "Superseded",
    "TooLongError",
    "extractive",
    "project",
]
