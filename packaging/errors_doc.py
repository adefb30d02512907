"""Writes docs/errors.md, the list of every error code, from the catalogue; ``--check`` only tells whether it is stale."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "errors.md"
TITLES = {
    "added": "Packages added by hand",
    "bundle": "Bundles",
    "cli": "Command line and jobs",
    "detect": "Detection, settings and the workspace's folder",
    "diagnose": "Report for the help desk",
    "environment": "Environment",
    "errors": "General",
    "net": "Network",
    "places": "The place of the workspace",
    "requirements": "Requirements and locks",
    "steps": "uv, Python and packages",
    "store": "The offline store",
    "tools": "Programs, caches and builds",
    "variants": "Several indexes and builds",
    "window": "Window",
    "wording": "Wording",
}
_OPENING = """# Error codes

Every failure has a stable code: `finished.code` in the JSON events, and the word in brackets in the terminal and in the
window. Each entry says what happened and what to do next; words in *italics* stand for what it happened to.

This file is written by `python3 packaging/dev.py errors` from `resources/messages/`.
"""


def render() -> str:
    """Return the whole document."""
    parts = [_OPENING]
    files = sorted((ROOT / "resources" / "messages").glob("*.json"))
    subjects = {file: json.loads(file.read_text(encoding="utf-8")) for file in files}
    texts = {key: value for subject in subjects.values() for key, value in subject.items()}
    for file, subject in subjects.items():
        messages = (key for key in subject if key.startswith("AML_") and key.endswith(".message"))
        codes = sorted(key.removesuffix(".message") for key in messages)
        if codes:
            parts.append(f"\n## {TITLES.get(file.stem, file.stem.capitalize())}\n")
            parts += [_entry(code, texts) for code in codes]
    return "".join(parts)


def _entry(code: str, texts: dict[str, dict[str, str]]) -> str:
    entry = f"\n### {code}\n\n{_plain(texts[f'{code}.message']['en'], texts)}\n"
    hint = texts.get(f"{code}.hint", {}).get("en")
    return entry + (f"\nWhat to do: {_plain(hint, texts)}\n" if hint else "")


def _plain(text: str, texts: dict[str, dict[str, str]]) -> str:
    """Turn a template into Markdown: escape what would be read as markup, then set placeholders in italics."""
    text = re.sub(r"\{=(\w+)\}", lambda found: texts[f"included.{found[1]}"]["en"], text)
    escaped = re.sub(r"([*<>#\\])", r"\\\1", text)
    plural = re.sub(r"\{([a-z_]+):[^{}|]*\|([^{}]*)\}", r"{\1} \2", escaped)
    named = re.sub(r"(?<!\{)\{([a-z_]+)[^{}]*\}(?!\})", lambda found: f"*{found[1]}*".replace("_", " "), plural)
    return named.replace("{{", "{").replace("}}", "}")


def main(arguments: list[str]) -> int:
    """Write or check the document."""
    if "--check" in arguments:
        return 0 if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == render() else 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
