"""The store: what it holds, what needs it, what is lacking, and what can be freed."""
