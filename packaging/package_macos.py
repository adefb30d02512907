"""The .app of macOS in a .dmg: made, signed and notarised, each of which only macOS can do.

Signed and notarised is where the environment has the means:

- MACOS_SIGN_IDENTITY: the name of a Developer ID certificate in the keychain; without it, the signature is one of no name
- MACOS_NOTARY_KEY, MACOS_NOTARY_KEY_ID, MACOS_NOTARY_ISSUER: a key of App Store Connect (its .p8 file, id and issuer)

In a complete .dmg the .app carries the bundle, from which it sets up without a network.
"""

from __future__ import annotations

import os
import platform
import plistlib
import shutil
from typing import TYPE_CHECKING, Any, Final

import freeze
from devenv import ROOT, SetUpError
from package_papers import executable_files, write_papers

from amlwizard import __version__

if TYPE_CHECKING:
    from pathlib import Path

IDENTIFIER: Final = "org.amlwizard.amlwizard"
BUNDLE_TYPE: Final = "org.amlwizard.bundle"
MINIMUM_SYSTEM: Final = "12.0"
"""What PySide6 6.9.3 asks for."""
ICON: Final = ROOT / "resources" / "icons" / "amlwizard.svg"
ENTITLEMENTS: Final = {"com.apple.security.cs.allow-unsigned-executable-memory": True}
"""What the hardened runtime lets the program do: ctypes makes the entry points of its callbacks while it runs."""


def build(into: Path, bundle: Path | None) -> list[Path]:
    """Make the .dmg and what lies beside it.

    Raises:
        SetUpError: this is not macOS, or a step failed.
    """
    if platform.system() != "Darwin":
        raise SetUpError(
            "an .app is frozen, signed and put into a .dmg on macOS alone; "
            "what can be checked elsewhere is checked by: python3 packaging/dev.py package-check macos"
        )
    place = freeze.PLACE
    place.mkdir(parents=True, exist_ok=True)
    python = freeze.environment(place)
    icon = place / "amlwizard.icns"
    freeze.run([str(python), str(ROOT / "packaging" / "icns.py"), str(ICON), str(icon)])
    app = freeze.freeze(place, icon=icon).with_name("amlwizard.app")
    write_plist(app)
    if bundle is not None:
        carry(app, bundle)
    identity = os.environ.get("MACOS_SIGN_IDENTITY", "")
    sign(app, identity)
    freeze.run([str(python), str(ROOT / "packaging" / "check_macos.py"), str(app)])
    notary = notary_options()
    if notary:
        archive = place / "amlwizard.zip"
        archive.unlink(missing_ok=True)
        freeze.run(["ditto", "-c", "-k", "--keepParent", str(app), str(archive)])
        _notarise(archive, app, notary)
    image = make_image(app, into, complete=bundle is not None)
    if identity:
        freeze.run(["codesign", "--sign", identity, "--timestamp", str(image)])
    if notary:
        _notarise(image, image, notary)
    (site_packages,) = python.parent.parent.glob("lib/python*/site-packages")
    return [image, *write_papers(into, app, site_packages, [image])]


def info_plist() -> dict[str, Any]:
    """Return what the system is told of the program: its name, what it needs, and that bundles are its own."""
    return {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleName": "amlwizard",
        "CFBundleDisplayName": "amlwizard",
        "CFBundleExecutable": "amlwizard",
        "CFBundleIconFile": "amlwizard.icns",
        "CFBundlePackageType": "APPL",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleShortVersionString": __version__,
        "CFBundleVersion": __version__,
        "CFBundleDevelopmentRegion": "en",
        "CFBundleLocalizations": ["en", "zh-Hans"],
        "LSMinimumSystemVersion": MINIMUM_SYSTEM,
        "LSApplicationCategoryType": "public.app-category.developer-tools",
        "NSHighResolutionCapable": True,
        "NSPrincipalClass": "NSApplication",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "amlwizard bundle",
                "CFBundleTypeRole": "Viewer",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [BUNDLE_TYPE],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": BUNDLE_TYPE,
                "UTTypeDescription": "amlwizard bundle",
                "UTTypeConformsTo": ["public.data", "public.archive"],
                "UTTypeTagSpecification": {"public.filename-extension": ["amlbundle"]},
            }
        ],
    }


def write_plist(app: Path) -> None:
    """Put the whole Info.plist in the place of PyInstaller's."""
    (app / "Contents" / "Info.plist").write_bytes(plistlib.dumps(info_plist()))


def carry(app: Path, bundle: Path) -> None:
    """Put a bundle where the program looks for its own: among the data, as what lies in Frameworks has to be code."""
    contents = app / "Contents"
    (contents / "Resources" / "bundle").mkdir()
    shutil.copyfile(bundle, contents / "Resources" / "bundle" / bundle.name)
    (contents / "Frameworks" / "bundle").symlink_to("../Resources/bundle")


def sign(app: Path, identity: str) -> None:
    """Sign every program and library from the inside out, and the .app last; without an identity, with no name.

    The program knows its uv by a hash, which the signature changes: so uv is signed first and its note written anew.
    """
    entitlements = app.with_name("entitlements.plist")
    entitlements.write_bytes(plistlib.dumps(ENTITLEMENTS))
    command = ["codesign", "--force", "--sign", identity or "-"]
    command += ["--options", "runtime", "--timestamp"] if identity else []
    for file in inside_out(app):
        own = ["--entitlements", str(entitlements)] if file.parent.name == "MacOS" else []
        freeze.run([*command, *own, str(file)])
        if file.name == "uv":
            freeze.note_uv(file)
    freeze.run([*command, "--entitlements", str(entitlements), str(app)])
    freeze.run(["codesign", "--verify", "--deep", "--strict", str(app)])


def inside_out(app: Path) -> list[Path]:
    """Return everything in an .app that has a signature of its own, in the order of signing.

    The main program is signed with the .app. uv is the first, as the seal of whatever holds its note comes after it.
    """
    main = app / "Contents" / "MacOS" / "amlwizard"
    found = [app / path for path in executable_files(app) if app / path != main]
    frameworks = {parent for file in found for parent in file.parents if parent.suffix == ".framework"}
    return sorted({*found, *frameworks}, key=lambda path: (path.name != "uv", -len(path.parts), path))


def notary_options() -> list[str]:
    """Return the options of notarytool that name the key, nothing where there is none.

    Raises:
        SetUpError: only a part of it is named, or nothing is signed.
    """
    options = {"--key": "MACOS_NOTARY_KEY", "--key-id": "MACOS_NOTARY_KEY_ID", "--issuer": "MACOS_NOTARY_ISSUER"}
    values = {option: os.environ.get(name, "") for option, name in options.items()}
    if not any(values.values()):
        return []
    missing = [name for option, name in options.items() if not values[option]]
    missing += [] if os.environ.get("MACOS_SIGN_IDENTITY") else ["MACOS_SIGN_IDENTITY"]
    if missing:
        raise SetUpError(f"what is to be notarised also needs {', '.join(missing)}")
    return [word for pair in values.items() for word in pair]


def _notarise(sent: Path, stapled: Path, notary: list[str]) -> None:
    freeze.run(["xcrun", "notarytool", "submit", str(sent), "--wait", *notary])
    freeze.run(["xcrun", "stapler", "staple", str(stapled)])


def make_image(app: Path, into: Path, *, complete: bool) -> Path:
    """Return the .dmg: the .app, and a link to where it is to be put."""
    content = app.with_name("image")
    shutil.rmtree(content, ignore_errors=True)
    content.mkdir()
    freeze.run(["ditto", str(app), str(content / app.name)])
    (content / "Applications").symlink_to("/Applications")
    image = into / f"amlwizard-{__version__}-macos-{os.uname().machine}{'-complete' if complete else ''}.dmg"
    image.unlink(missing_ok=True)
    options = ["-volname", "amlwizard", "-format", "ULFO", "-fs", "HFS+"]
    freeze.run(["hdiutil", "create", *options, "-srcfolder", str(content), str(image)])
    return image
