"""The demonstration: a corpus in two languages with its vectors, and what puts it into a base."""
