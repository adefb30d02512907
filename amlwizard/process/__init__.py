"""How a command runs: the runners and the control of process trees."""
