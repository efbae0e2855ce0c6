"""Traces: what happened in a request, kept for its caller, with an answer to why something was found or was not."""
