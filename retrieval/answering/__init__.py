"""Answers: a chat model's words about what a search found, with every citation checked."""
