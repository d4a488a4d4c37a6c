"""Protections of the team's server, switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

HTTP = (
    Plant(
        "requests without a token are answered",
        "P27",
        (
            Edit(
                "server/http/gate.py",
                "        if access is None:\n            raise _refusal(401",
                '        access = access or Access("", frozenset({"open-to-all"}), may_write=True, home=None)\n'
                "        if access is None:\n            raise _refusal(401",
            ),
        ),
        ("tests/http/test_gate.py::test_no_request_is_answered_without_a_token_that_stands",),
    ),
    Plant(
        "a token opens any project",
        "P28",
        (
            Edit(
                "server/http/gate.py",
                "if project is None or project not in access.projects:",
                "if project is None:",
            ),
        ),
        ("tests/http/test_gate.py::test_a_project_that_is_not_theirs_is_answered_as_one_that_is_not_there",),
    ),
    Plant(
        "a token that may only read writes",
        "P27",
        (
            Edit(
                "server/http/visit.py",
                "return store if self.may_write else reading_only(store)",
                "return store",
            ),
        ),
        ("tests/http/test_gate.py::test_a_token_that_may_only_read_calls_no_tool_that_writes",),
    ),
    Plant(
        "a search of who may only read is recorded",
        "P27",
        (Edit("server/reading_only.py", "replace(query, recorded=False)", "query"),),
        ("tests/http/test_gate.py::test_a_token_that_may_only_read_leaves_nothing_in_the_log",),
    ),
    Plant(
        "a verb that nobody named is let through to who may only read",
        "P27",
        (
            Edit(
                "server/reading_only.py",
                "getattr(self._store, name) if name in READS else _refuse()",
                "getattr(self._store, name)",
            ),
        ),
        (
            "tests/server/test_reading_only.py::test_a_store_to_read_alone_refuses_whatever_is_not_known_to_read",
        ),
    ),
    Plant(
        "a token that was taken back goes on",
        "P27",
        (
            Edit(
                "server/http/tokens.py", "        if content != self._read:", "        if self._read is None:"
            ),
        ),
        ("tests/http/test_gate.py::test_a_token_is_refused_from_the_moment_it_is_taken_back",),
    ),
    Plant(
        "a token outlives its time",
        "P27",
        (
            Edit(
                "server/http/tokens.py",
                "return None if found is None or found.is_expired(datetime.now(UTC)) else found",
                "return found",
            ),
        ),
        ("tests/http/test_tokens.py::test_a_token_is_found_by_itself_alone_and_in_its_time",),
    ),
    Plant(
        "tokens that others can read are taken",
        "P25",
        (Edit("server/http/tokens.py", 'if os.name == "posix" and found.st_mode & _OTHERS:', "if False:"),),
        ("tests/http/test_tokens.py::test_what_others_could_read_is_refused",),
    ),
    Plant(
        "the last token's end opens the door",
        "P27",
        (
            Edit(
                "server/http/tokens.py",
                "self._was_there = self._was_there or self._file.exists()",
                "self._was_there = self._file.exists()",
            ),
        ),
        ("tests/http/test_listening.py::test_without_tokens_the_folders_project_is_open_and_no_other",),
    ),
    Plant(
        "other machines are let in without tokens",
        "P27",
        (
            Edit(
                "server/http/serving.py",
                "if not self.address.is_loopback and not self.tokens.tokens():",
                "if False:",
            ),
        ),
        ("tests/http/test_listening.py::test_other_machines_are_let_in_by_tokens_alone",),
    ),
    Plant(
        "a request by any name is answered",
        "P27",
        (
            Edit(
                "server/http/gate.py",
                "if len(hosts) != 1 or not self._rules.names.knows_host(hosts[0], here):",
                "if False:",
            ),
        ),
        ("tests/http/test_limits.py::test_a_request_by_another_name_is_turned_away",),
    ),
    Plant(
        "pages of any origin are answered",
        "P27",
        (
            Edit(
                "server/http/gate.py",
                "if any(not self._rules.names.knows_origin(origin, here) for origin in origins):",
                "if False:",
            ),
        ),
        ("tests/http/test_limits.py::test_a_page_of_another_origin_is_not_answered",),
    ),
    Plant(
        "a body may be of any size",
        "P20",
        (
            Edit("server/http/answering.py", "        if self._size > self._limit:", "        if False:"),
            Edit(
                "server/http/routes.py",
                "max_request_body_size=MAX_BODY_BYTES",
                "max_request_body_size=10**10",
            ),
        ),
        ("tests/http/test_limits.py::test_a_body_over_the_limit_is_refused",),
    ),
    Plant(
        "calls are begun while the server ends",
        "P18",
        (Edit("server/http/gate.py", "        if self.ending:", "        if False:"),),
        (
            "tests/http/test_ending.py::test_a_call_that_was_begun_is_answered_and_new_ones_are_told_to_come_again",
        ),
    ),
    Plant(
        "the log holds a caller's own words",
        "P26",
        (
            Edit(
                "server/http/routes.py",
                "line.method = ctx.method if ctx.method in SPEC_CLIENT_METHODS else None",
                "line.method = ctx.method",
            ),
        ),
        ("tests/http/test_log.py::test_the_log_holds_nothing_that_was_said_however_talkative",),
    ),
    Plant(
        "two tokens are one conversation",
        "P28",
        (Edit("server/http/visit.py", 'f"token-{self.token or _NO_TOKEN}"', '"token"'),),
        ("tests/http/test_callers.py::test_two_tokens_whose_clients_tell_nothing_are_two_conversations",),
    ),
    Plant(
        "a token lies in a client's file",
        "P24",
        (
            Edit(
                "server/clients/claude_code/registration.py",
                'f"${{{TOKEN_VARIABLE}}}"',
                "__import__('os').environ[TOKEN_VARIABLE]",
            ),
        ),
        (
            "tests/server/test_install_http.py::test_the_address_and_the_variable_are_written_and_the_token_is_not",
        ),
    ),
)
