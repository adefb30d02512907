"""The command line with little patience, for tests of what is said in the end: ``python -m tests.support.hurried ARGS``.

Nobody is asked twice, neither by uv nor by the program's own fetcher. Where SOMETHING_HANGS is set, what does not answer
soon is no uv or Python; otherwise a busy machine would be taken for that.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from amlwizard import cli, wiring
from amlwizard.core import uv_cli
from amlwizard.core.detection import search
from amlwizard.core.environment.verify import verify_environment
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.session import Limits

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.fetching import Fetcher

PROBE_SECONDS = 3.0
_make_fetcher = wiring.make_fetcher


def make_hurried(choices: Choices) -> Fetcher:
    """Return the program's own fetcher for a wish, which asks nobody twice."""
    fetcher = _make_fetcher(choices)
    assert isinstance(fetcher, HttpFetcher)
    fetcher.limits = Limits(attempts=1)
    return fetcher


def hurry() -> None:
    """Take the patience from this process."""
    uv_cli.HTTP_RETRIES = 0  # type: ignore[misc]
    wiring.make_fetcher = make_hurried
    if "SOMETHING_HANGS" in os.environ:
        search.detect.__kwdefaults__["probe_seconds"] = PROBE_SECONDS
        verify_environment.__kwdefaults__ |= {"start_seconds": PROBE_SECONDS, "trace_seconds": PROBE_SECONDS}


if __name__ == "__main__":
    hurry()
    sys.exit(cli.main(sys.argv[1:]))
