"""Namespaces, principals, grants and tokens by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.conftest import Run


def test_a_namespace_is_created_listed_and_deleted(run: Run) -> None:
    assert run("namespace", "create", "support", "--title", "Handbook").out == "Created namespace support.\n"
    assert run("namespace", "create", "support").sentence == "Namespace 'support' exists already."
    assert run("namespace", "list", "--json").json == [{"name": "support", "title": "Handbook"}]
    assert run("namespace", "list").out == "support\tHandbook\n"
    assert "--confirm support" in run("namespace", "delete", "support").sentence
    assert "must repeat the name" in run("namespace", "delete", "support", "--confirm", "other").sentence
    assert run("namespace", "delete", "support", "--confirm", "support").out.startswith("Deleted namespace support")
    assert run("namespace", "list", "--json").json == []
    assert "'support'" in run("namespace", "delete", "support", "--confirm", "support").sentence


def test_principals_are_added_listed_and_deleted(run: Run) -> None:
    assert run("principal", "add", "ann", "--title", "Ann").out == "Created: user ann.\n"
    assert run("principal", "add", "team", "--group", "--json").json["outcome"] == "CREATED"
    assert run("principal", "add", "bot", "--service").out == "Created: service bot.\n"
    assert run("principal", "add", "root", "--administrator").out == "Created: administrator root.\n"
    assert "is a USER" in run("principal", "add", "ann", "--group").sentence
    assert "contradict" in run("principal", "add", "both", "--group", "--service").sentence
    assert run("principal", "members", "team", "--set", "ann", "--set", "bot").out == "ann\nbot\n"
    listed = {one["name"]: one for one in run("principal", "list", "--json").json}
    assert listed["root"]["administrator"] is True
    assert listed["ann"]["groups"] == ["team"]
    assert run("principal", "members", "team", "--none", "--json").json == {"group": "team", "members": []}
    assert "contradict" in run("principal", "members", "team", "--none", "--set", "ann").sentence
    assert run("principal", "delete", "ann").out.startswith("Deleted principal ann")
    assert run("principal", "delete", "ann").sentence == "There is no principal ann."


def test_rights_are_given_explained_listed_and_taken_back(run: Run, tmp_path: Path) -> None:
    run("namespace", "create", "support")
    run("principal", "add", "ann")
    explained = run("grant", "explain", "ann", "--namespace", "support", "--json").json
    assert explained["visible"] is False
    assert run("grant", "add", "ann", "-n", "support", "--role", "reader").out == "ann now holds READER in support.\n"
    assert run("grant", "add", "ann", "-n", "support", "--json").json == {"changed": False}
    assert run("grant", "list", "-n", "support").out == "ann\tUSER\tREADER\t\n"
    (tmp_path / "pay.md").write_text("# Pay\n\nSecret.")
    run("ingest", tmp_path / "pay.md", "-n", "support", "--restricted")
    assert run("grant", "explain", "ann", "pay.md", "-n", "support").out.startswith("Not visible: pay.md\n")
    assert run("grant", "add", "ann", "-n", "support", "--key", "pay.md").code == 0
    assert run("grant", "explain", "ann", "pay.md", "-n", "support").out.startswith("Visible: pay.md\n")
    assert run("grant", "explain", "ann", "pay.md", "--json").json["masked"] is True
    assert "--namespace" in run("grant", "explain", "ann").sentence
    assert run("grant", "revoke", "ann", "-n", "support").out == "ann no longer holds READER in support.\n"
    assert run("grant", "explain", "ann", "-n", "support", "--json").json["visible"] is False


def test_a_token_is_shown_once_and_opens_what_its_principal_may_read(run: Run, tmp_path: Path) -> None:
    run("namespace", "create", "closed")
    run("principal", "add", "ann")
    made = run("token", "create", "ann", "--days", 30, "--label", "laptop")
    token = made.out.strip()
    assert token.startswith("ctxql_")
    assert token not in made.err
    listed = run("token", "list", "--principal", "ann")
    assert "laptop" in listed.out
    assert "holds" in listed.out
    assert token not in listed.out
    for name in ("closed", "unknown"):
        refused = run("ask", "word", "-n", name, "--token", token).sentence
        assert refused.replace(name, "…") == "Namespace '…' does not exist or is not open to you; `viewer` lists those that are."
    (number,) = (one["id"] for one in run("token", "list", "--json").json)
    assert run("token", "revoke", number).code == 0
    assert "token is unknown, expired or revoked" in run("ask", "word", "--token", token).sentence
    assert "that still holds" in run("token", "revoke", number).sentence
    assert "no principal 'bob'" in run("token", "create", "bob").sentence


@pytest.mark.parametrize("days", [0, "soon"])
def test_a_token_needs_a_sensible_time(run: Run, days: object) -> None:
    assert "--days" in run("token", "create", "ann", "--days", days).sentence
