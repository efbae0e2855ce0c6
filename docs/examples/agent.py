"""An agent's context for a task: a pack under a budget, or in time nothing, and the agent goes on with what it knows."""

import asyncio
import os

import httpx

SERVER = os.environ.get("CONTEXTQL_URL", "http://127.0.0.1:8000")
TOKEN = os.environ.get("CONTEXTQL_TOKEN")  # `make demo` lets this machine in without one
SECONDS = float(os.environ.get("CONTEXTQL_SECONDS", "2"))

TASK = "Callers get ERR_PAY_TIMEOUT from POST /api/v1/payments, see PAY-101: who works on it, and what do we tell them?"
OWN = {"task": TASK, "role": "on duty"}

PACK = """query ($task: String!, $own: JSON!) {
  contextPack(question: $task, ephemeralContext: $own, namespaces: ["team"], anchors: [{ key: "PAY-101" }],
              asOf: "2026-09-06T00:00:00Z", maxTokens: 500) {
    text
    sections { items { title text score signals { kind channel contribution } } }
    budget { usedTokens maxTokens dropped { kind title tokenEstimate reason } }
    traceId
  }
}"""
WHY = 'query ($id: ID!, $key: String!) { trace(traceId: $id) { why(namespace: "team", key: $key) { outcome explanation } } }'
LEFT_OUT = "runbook/ledger.md"


async def asked(client, seconds, field, query, **variables):
    """One field of an answer, or None when the server is late, away or refuses; the agent never waits longer."""
    try:
        async with asyncio.timeout(seconds):
            reply = await client.post("/graphql", json={"query": query, "variables": variables})
            return reply.json()["data"][field]
    except (TimeoutError, httpx.HTTPError, ValueError, KeyError, TypeError):
        return None


async def prompt_for(task, own, client, seconds=SECONDS):
    """What goes into the prompt: a pack for the task, else what the agent knows itself."""
    pack = await asked(client, seconds, "contextPack", PACK, task=task, own=own)
    if not pack or pack["text"] is None:
        print("No pack in time; going on with what the agent knows itself.")
        return str(own)
    print_pack(pack)
    trace = await asked(client, seconds, "trace", WHY, id=pack["traceId"], key=LEFT_OUT)
    if trace and trace["why"]:
        print(f"{LEFT_OUT}: {trace['why']['outcome']}. {trace['why']['explanation']}")
    return pack["text"]


def print_pack(pack):
    """Two items with the terms of their scores, and one that was dropped, with its price."""
    items = [item for section in pack["sections"] or () for item in section["items"]]
    for item in sorted(items, key=lambda item: -item["score"])[:2]:
        terms = " + ".join(f"{one['channel'] or one['kind']} {one['contribution']:.4f}" for one in item["signals"])
        print(f"{item['title']}: {item['score']:.4f} = {terms}")
    budget = pack["budget"]
    for one in budget["dropped"][:1]:
        print(f"Dropped, {one['reason']}: {one['kind']} {one['title']} for {one['tokenEstimate']} tokens")
    print(f"{budget['usedTokens']} of {budget['maxTokens']} tokens, {len(budget['dropped'])} dropped")


async def main():
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    async with httpx.AsyncClient(base_url=SERVER, headers=headers) as client:
        prompt = await prompt_for(TASK, OWN, client)
    print(f"The prompt has {len(prompt)} characters.")


if __name__ == "__main__":
    asyncio.run(main())
