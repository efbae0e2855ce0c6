"""Measures cost and quality of `search { hits }` against other products on the same documents, questions and vectors."""
