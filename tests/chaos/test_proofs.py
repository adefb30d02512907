"""The proofs themselves: what they would find, and what they must not take for a breach."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.linux

REPOSITORY = Path(__file__).resolve().parents[2]
HARNESS = """
import os, signal, subprocess, sys
from tests.chaos.proofs import adopt_orphans, reap_orphans, survivors

STAY = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
ORPHAN = (
    "import os, sys\\n"
    "if os.fork(): os._exit(0)\\n"
    "os.setsid(); os.chdir('/')\\n"
    f"os.execve(sys.executable, [sys.executable, '-S', '-c', {STAY!r}], {{}})\\n"
)
adopt_orphans()
helper = subprocess.Popen([sys.executable, "-S", "-c", STAY], stdout=subprocess.PIPE)
helper.stdout.readline()
run = subprocess.Popen([sys.executable, "-S", "-c", ORPHAN], stdout=subprocess.PIPE)
orphan = int(run.stdout.readline())
run.wait()
found = [process.pid for process in survivors({helper.pid})]
os.kill(orphan, signal.SIGKILL)
os.waitid(os.P_PID, orphan, os.WEXITED | os.WNOWAIT)
after = survivors({helper.pid})
reap_orphans({helper.pid})
helper.kill()
assert helper.wait() == -signal.SIGKILL
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print(found == [orphan], after)
"""


def test_an_orphan_that_hides_is_found_and_a_stranger_that_names_the_folder_is_not(tmp_path: Path) -> None:
    wait = [sys.executable, "-S", "-c", "input()", str(tmp_path)]
    with subprocess.Popen(wait, cwd=tmp_path, env={"AML_ROOT": str(tmp_path)}, stdin=subprocess.PIPE) as stranger:
        harness = [sys.executable, "-c", HARNESS, str(tmp_path)]
        done = subprocess.run(harness, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert (done.stdout, done.stderr) == ("True []\n", "")
