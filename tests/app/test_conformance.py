"""The audits of graphql-http, run from npm against a real server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.app.edge_world import edge

AUDITS = 61


def test_all_audits_of_graphql_over_http_pass(node_project: Path) -> None:
    with edge() as (_, client):
        command = ["node", "audit.mjs", str(client.base_url.join("/graphql"))]
        output = subprocess.run(command, cwd=node_project, capture_output=True, text=True, timeout=200, check=True).stdout
    results = [json.loads(line) for line in output.splitlines()]
    assert [result for result in results if result["status"] != "ok"] == []
    assert len(results) == AUDITS
