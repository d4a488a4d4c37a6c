"""A small ordinary session in plain English, for what is counted in tokens: made words would cost more."""

from __future__ import annotations

PINS: tuple[tuple[str, str], ...] = (
    ("Refresh tokens live 14 days, access tokens 15 minutes; both in `auth.token`.", "security asked"),
    (
        "Money is stored as integer cents in `amount_cents`, never floats.",
        "floats lost 0.01 per invoice",
    ),
    ("The importer reads at most 500 rows per batch.", "at 1,000 the worker passed its 512 MB limit"),
    ("Keep Python 3.11 as the oldest version that is supported.", "two customers cannot upgrade before May"),
    ("Retries: 5 with exponential backoff from 200 ms, only for 429 and 503.", "the gateway bans after 8"),
    ("Public API stays under /v2; /v1 answers 410 from 2026-06-01.", "announced in the changelog"),
    ("Use `httpx` with one shared client, not one per request.", "handshakes took 70 ms of each 90 ms call"),
    ("Migrations are additive only; drop columns one release later.", "rolling deploys run both versions"),
    ("All times are UTC in ISO 8601 with microseconds.", "the report mixed CET and UTC in March"),
    ("Feature flags are read once per request, in `flags.py`.", "a flip mid-request wrote half an order"),
)
"""Ten pins, each with its reason."""

QUERY = "checkout timeout"
MESSAGES: tuple[str, ...] = (
    "The checkout timeout comes from the payment client: it waits 30 s for a connection from a pool of "
    "5, and the load test holds all of them. I will raise the pool to 20 and lower the wait to 2 s.",
    "Running tests/checkout/test_timeout.py again: 41 passed, 1 failed. test_timeout_is_reported "
    "expects status 504 but gets 500, because PoolTimeout is not mapped in src/payments/errors.py line "
    "88.",
    "Before I change it: the checkout page shows a spinner until the timeout, there is no message for "
    "the user. The ticket asks for one after 5 seconds, in both languages.",
    "Deployed to staging as 4f2a91c. The p95 of checkout fell from 2.8 s to 640 ms and no request met "
    "the timeout in 20 minutes at 150 requests per second.",
    "Note for the review: retrying a checkout after a timeout is safe only with the Idempotency-Key "
    "header, which src/payments/client.py sends since version 3.2.",
    "The timeout of the nightly export has nothing to do with checkout; it is the statement_timeout of "
    "60 s that the reporting role has in PostgreSQL.",
)
"""What was said; the query finds at least five of them."""
