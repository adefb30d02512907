"""What the user opens once the environment is there: JupyterLab, a terminal, shortcuts, and commands to copy."""
