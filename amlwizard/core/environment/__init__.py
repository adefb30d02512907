"""The environment of a workspace: its state, how it is built, proven and put in place."""
