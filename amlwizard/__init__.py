"""amlwizard: sets up, proves, rebuilds and repairs a data-science environment in one folder."""

__version__ = "0.1.0"
