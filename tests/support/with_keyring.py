"""The command line on a computer with a keyring: ``python -m tests.support.with_keyring ARGS``.

The keyring is a fake one with the logins of the JSON file that FAKE_KEYRING names, by origin. It is set up by the library's
own call, and only counts as the system's own; everything else is what a real one would meet.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import keyring

from amlwizard import cli, wiring
from amlwizard.core.logins import SystemLogins
from tests.support.fake_keyrings import FakeKeyring

if __name__ == "__main__":
    keyring.set_keyring(FakeKeyring(Path(os.environ["FAKE_KEYRING"])))
    store = SystemLogins({FakeKeyring.__module__})
    wiring.login_store = lambda: store  # type: ignore[assignment]
    sys.exit(cli.main(sys.argv[1:]))
