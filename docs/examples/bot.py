"""A bot's context: what may be told to whoever asks, with its sources, or an honest sentence why there is none."""

import os
import sys

from gql import Client, GraphQLRequest
from gql.transport.exceptions import TransportError
from gql.transport.httpx import HTTPXTransport

SERVER = os.environ.get("CONTEXTQL_URL", "http://127.0.0.1:8000")
ASK = """query Ask($question: String!) {
  search(question: $question, k: 5) { context sources { title sourcePath key } degraded { part code } }
}"""


def context_for(question, token):
    """Text for the prompt of a chat model, and the sources to show under its answer; `token` is that of the person who asks."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with Client(transport=HTTPXTransport(f"{SERVER}/graphql", headers=headers, timeout=10)) as session:
        found = session.execute(GraphQLRequest(ASK, variable_values={"question": question}))["search"]
    for lost in found["degraded"] or ():
        print(f"Found without {lost['part']}: {lost['code']}", file=sys.stderr)
    return found["context"], [f"{card['title']} <{card['sourcePath'] or card['key']}>" for card in found["sources"] or ()]


if __name__ == "__main__":
    try:
        context, sources = context_for(" ".join(sys.argv[1:]), os.environ.get("CONTEXTQL_TOKEN"))
        print(context, *sources, sep="\n")
    except TransportError as error:
        sys.exit(f"No context: {error}")
