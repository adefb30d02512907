"""Right records of a workspace, which the kinds damage, and where each lies."""

from __future__ import annotations

from typing import Any, Final

import tomli_w

SHA: Final = "a" * 64
DIGEST: Final = "0123456789ab"
BOOT: Final = "the boot of the trials"
TAG: Final = "0123456789abcdef"
_WHEEL: Final = "tinya-1.0-py3-none-any.whl"

RECORDS: Final[dict[str, dict[str, Any]]] = {
    "runtime/journal.json": {"format": 1, "action": "commit", "build": "b", "had_old": True},
    f"runtime/runs/{TAG}/run.json": {
        "format": 1,
        "tag": TAG,
        "pid": 4_000_000,
        "boot": BOOT,
        "born": 1.5,
        "machine": "here",
        "command": "install",
        "since": "2026-01-01T00:00:00Z",
        "root": "ROOT",
        "shared": False,
        "folders": ["ROOT/runtime/tmp/x", "TMP/aml-1-x"],
    },
    "runtime/holders/lock-1.json": {
        "format": 1,
        "pid": 4_000_000,
        "boot": "x",
        "born": 1.5,
        "since": "2026-01-01T00:00:00Z",
        "command": "x",
    },
    "runtime/receipt.json": {
        "format": 1,
        "created": {
            name: {"kind": "folder", "created": "2026-01-01T00:00:00Z"}
            for name in (".", ".venv", "runtime", "tools", "python", "downloads", "cache", "jobs", "ROOT", "datasets")
        },
    },
    f".venv/.aml-ok-{DIGEST}": {
        "format": 1,
        "root": "ROOT",
        "python": "3.11.9",
        "lock": SHA,
        "build": "b",
        "created": "2026-01-01T00:00:00Z",
    },
    "runtime/uv.json": {
        "format": 1,
        "uvPath": "ROOT/tools/uv",
        "version": "0.13.9",
        "installedAt": "2026-01-01T00:00:00Z",
        "installDir": "ROOT/tools",
        "method": "index",
        "sha256": SHA,
    },
    "runtime/store.json": {
        "format": 1,
        "files": {
            _WHEEL: {"sha256": SHA, "size": 10, "noted": "2026-01-01T00:00:00Z"},
            "x.part": {"sha256": None, "size": None},
        },
    },
    "runtime/python.json": {
        "format": 1,
        "interpreters": {
            "cpython-3.11.9-linux-x86_64-gnu": {
                "version": "3.11.9",
                "archive": "cpython-3.11.9.tar.gz",
                "sha256": SHA,
                "key": "cpython-3.11.9-linux-x86_64-gnu",
                "entry": {"url": "https://files.example.org/cpython-3.11.9.tar.gz", "sha256": SHA},
            }
        },
    },
    "runtime/window.json": {
        "format": 1,
        "workspaces": ["ROOT", "/home/mei/aml"],
        "last": {"root": "ROOT", "profile": "pytorch", "requirements": "ROOT/requirements.txt"},
        "geometry": "AdnQ",
    },
    "downloads/built/0123456789abcdef/source.json": {
        "format": 1,
        "name": "tinya",
        "file": _WHEEL,
        "sha256": SHA,
        "source": {"kind": "sdist", "sha256": SHA, "fingerprint": "x"},
        "python": "3.11.9",
    },
    "downloads/cpython-3.11.9.tar.gz.json": {
        "cpython-3.11.9-linux-x86_64-gnu": {
            "name": "cpython",
            "arch": {"family": "x86_64", "variant": None},
            "os": "linux",
            "libc": "gnu",
            "major": 3,
            "minor": 11,
            "patch": 9,
            "prerelease": "",
            "url": "cpython-3.11.9.tar.gz",
            "sha256": SHA,
            "variant": None,
        }
    },
}
"""By the path in the workspace; ``ROOT`` and ``TMP`` stand for the folders of the trial."""

LOCK: Final[dict[str, Any]] = {
    "lock-version": "1.0",
    "created-by": "uv",
    "requires-python": ">=3.10",
    "environments": ["sys_platform == 'linux'", "sys_platform != 'linux'"],
    "packages": [
        {
            "name": "tinya",
            "version": "1.0",
            "marker": "python_version >= '3'",
            "index": "https://index.example.org/simple",
            "wheels": [{"url": f"https://files.example.org/{_WHEEL}", "size": 10, "hashes": {"sha256": SHA}}],
            "sdist": {"url": "https://files.example.org/tinya-1.0.tar.gz", "size": 9, "hashes": {"sha256": SHA}},
        },
        {"name": "here", "directory": {"path": "../files/pkg", "editable": True, "subdirectory": "x"}},
        {"name": "git", "vcs": {"type": "git", "url": "https://git.example.org/r", "commit-id": "b" * 40}},
        {"name": "arc", "archive": {"path": "x/arc-1.0-py3-none-any.whl", "size": 3, "hashes": {"sha256": SHA}}},
        {
            "name": "src",
            "version": "2",
            "sdist": {"name": "src-2.tar.gz", "path": "src-2.tar.gz", "hashes": {"sha256": SHA}},
        },
    ],
    "tool": {
        "amlwizard": {
            "format": 1,
            "kind": "file",
            "name": "/gone/requirements.txt",
            "digest": DIGEST,
            "python": "3.11.9",
            "platform": "linux-x86_64",
            "requirements": ["tinya", "more==1.0 --hash=sha256:" + SHA, "--pre"],
            "constraints": ["x<2"],
            "added": ["arc"],
            "brought": ["arc"],
            "replaced": [
                {
                    "name": "arc",
                    "version": "0.9",
                    "wheels": [{"path": "arc-0.9-py3-none-any.whl", "hashes": {"sha256": SHA}}],
                }
            ],
            "before": {"requirements": ["x"], "packages": [{"name": "x", "version": "1", "locked": "2"}]},
        }
    },
}
BUNDLE_LOCK: Final[dict[str, Any]] = {
    **LOCK,
    "tool": {
        "amlwizard": {
            "kind": "bundle",
            "name": "b",
            "digest": DIGEST,
            "python": "3.11",
            "origin": {"kind": "file", "name": "x"},
        }
    },
}
LOCAL_LOCK: Final[dict[str, Any]] = {
    "lock-version": "1.0",
    "created-by": "amlwizard",
    "packages": [
        {
            "name": "tinya",
            "version": "1.0",
            "wheels": [{"path": f"../downloads/{_WHEEL}", "size": 10, "hashes": {"sha256": SHA}}],
        },
    ],
}
LOCKS: Final = (
    "runtime/pylock.toml",
    "runtime/pylock.local.toml",
    "runtime/pylock.previous.toml",
    "runtime/pylock.next.toml",
)


def toml_bytes(value: Any) -> bytes:
    """Return a value as TOML, and as good as it goes where TOML does not know it."""
    try:
        return tomli_w.dumps(_for_toml(value)).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, AttributeError):
        return repr(value).encode("utf-8", "surrogatepass")


def _for_toml(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _for_toml(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_for_toml(item) for item in value if item is not None]
    return value
