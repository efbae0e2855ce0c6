"""The Context Compiler: a pack under a budget, chosen from what five channels found."""
