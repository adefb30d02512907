"""What is seen: the wizard and its pages. No logic, no child process, no file access."""
