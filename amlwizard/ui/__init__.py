"""What is seen: the wizard and its pages. No logic, no subprocess, no file access."""
