"""The audit: who wrote what, and what services read for users."""
