"""Measures the quality of retrieval on sets of documents, queries and judgments, through the run that GraphQL uses."""
