"""Compile the lock of each profile from its short list, and note what it weighs on each platform.

    python packaging/lock_profiles.py [PROFILE]...

Needs uv on PATH, an index that tells sizes, and the packages that amlwizard itself needs. No wheel is downloaded. Pairs of
platform and Python for which a package has no ready build are printed, and left out of the sizes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from packaging.pylock import PackageWheel, Pylock, PylockSelectError

from amlwizard.core.bundle.names import PLATFORMS
from amlwizard.core.bundle.targets import Target
from amlwizard.core.profiles import Profile, load_profile, profile_names
from amlwizard.core.records import write_text_atomically
from amlwizard.core.requirements import parse_closure
from amlwizard.core.tags import platform_wheel_tags
from amlwizard.resources import resource

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

PATCH = 9  # of the imagined interpreters; markers on patch versions concern the first few of a minor version only


def python_minors(python: SpecifierSet) -> list[int]:
    """Return the minor versions of Python 3 that a range allows."""
    return [minor for minor in range(30) if python.contains(f"3.{minor}.{PATCH}")]


def compile_with_uv(source: Path, lowest: int, *options: str) -> None:
    """Run ``uv pip compile`` for all platforms, without any configuration file."""
    command = ["uv", "--no-config", "pip", "compile", "--quiet", "--universal", "--python-version", f"3.{lowest}"]
    subprocess.run([*command, "--no-header", *options, source.name], cwd=source.parent, check=True)


def lock(profile: Profile) -> dict[str, dict[str, int]]:
    """Compile one profile; return its sizes in bytes by platform and Python."""
    assert profile.short_list is not None
    assert profile.python is not None
    minors = python_minors(profile.python)
    constraints = str(resource("profiles", "constraints.in"))
    hashed = ["--generate-hashes", "--constraints", constraints]
    compile_with_uv(
        profile.short_list, minors[0], *hashed, "--no-annotate", "--upgrade", "--output-file", "requirements.txt"
    )
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "pylock.toml"
        compile_with_uv(
            profile.requirements, minors[0], "--no-deps", "--format", "pylock.toml", "--output-file", str(output)
        )
        content = Pylock.from_dict(tomllib.loads(output.read_text(encoding="utf-8")))
    sizes: dict[str, dict[str, int]] = {}
    for platform in PLATFORMS:
        for minor in minors:
            size = weight(content, profile.name, platform, minor)
            if size is not None:
                sizes.setdefault(platform, {})[f"3.{minor}"] = size
    return sizes


def write_any_build(profile: Profile) -> None:
    """Write what asks for a profile with another build of PyTorch: what PyTorch alone brings in is left open."""
    if profile.any_build is None or profile.short_list is None:
        return
    others = {entry.name for entry in parse_closure(load_profile().requirements, {}).entries}
    pins = re.split(r"^(?=\S)", profile.requirements.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = [pin for pin in pins if pin.partition("==")[0] in others]
    write_text_atomically(profile.any_build.with_name("any_build.txt"), "".join(kept))
    lines = [line for line in profile.short_list.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    head = "# The same packages with PyTorch in any build, made by packaging/lock_profiles.py.\n"
    write_text_atomically(profile.any_build, head + "\n".join([*lines, "-c any_build.txt"]) + "\n")


def weight(content: Pylock, profile: str, platform: str, minor: int) -> int | None:
    """Return the bytes of all wheels on a platform, None where a package has none there."""
    environment: Any = Target(platform, f"3.{minor}.{PATCH}").facts.marker_environment
    try:
        chosen = list(content.select(environment=environment, tags=platform_wheel_tags(platform, (3, minor))))
    except PylockSelectError as error:
        print(f"{profile}: {platform}, Python 3.{minor}: {error}")
        return None
    missing = [package.name for package, file in chosen if not isinstance(file, PackageWheel)]
    if missing:
        print(f"{profile}: {platform}, Python 3.{minor}: no wheel of {', '.join(missing)}")
        return None
    return sum(file.size or 0 for _, file in chosen if isinstance(file, PackageWheel))


def main(names: list[str]) -> None:
    """Compile the named profiles, or all of them."""
    path = resource("profiles", "profiles.json")
    descriptions = json.loads(path.read_text(encoding="utf-8"))
    for name in names or profile_names():
        descriptions[name]["sizes"] = lock(load_profile(name))
        write_any_build(load_profile(name))
    write_text_atomically(path, json.dumps(descriptions, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
