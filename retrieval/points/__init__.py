"""What callers of all server processes have used together."""
