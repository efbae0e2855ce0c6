"""Rerank: a chat model judges the first candidates and what is around them, once a request, and never breaks the search."""
