"""From settings, variables and options to ``Choices``: what is wrong is refused here, before anything is changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from amlwizard.core.ca_files import refuse_without_certificate
from amlwizard.core.choices import BundleOrder, Choices, IndexStrategy, UvMethod
from amlwizard.core.company_settings import CompanySettings, Sourced, read_company_settings
from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import Credentials, SplitUrl, split_proxy, split_url
from amlwizard.core.locked_hints import note_locks
from amlwizard.core.mirrors import tell_unusable
from amlwizard.core.organisation import Organisation, expanded_folders
from amlwizard.core.plain_files import is_file, is_folder, is_path
from amlwizard.core.settings_files import (
    Setting,
    Settings,
    Source,
    load_settings,
    machine_settings_file,
    save_user_settings,
    user_settings_file,
)
from amlwizard.core.unusable import why_no_file, why_no_folder
from amlwizard.core.uv_cli import ACCELERATORS

if TYPE_CHECKING:
    from amlwizard.core.catalogue import Phrase

__all__ = [
    "ChoiceOptions",
    "Setting",
    "Settings",
    "Source",
    "load_settings",
    "machine_settings_file",
    "resolve_choices",
    "save_user_settings",
    "user_settings_file",
]

MINIMUM_PYTHON: Final = (3, 10)
_VERSION: Final = re.compile(r"(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3}))?", re.ASCII)
_LARGEST_PART: Final = 99
_VERSION_LIKE: Final = re.compile(r"[\w.+\-]+", re.ASCII)
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


class ChoiceOptions(TypedDict, total=False):
    """The options of a command, as the user gave them; None counts as not given."""

    root: str | Path | None
    requirements: str | Path | None
    profile: str | None
    python: str | Path | None
    uv: str | Path | None
    uv_method: str | UvMethod | None
    index_url: str | None
    extra_index_urls: Sequence[str] | None
    index_strategy: str | IndexStrategy | None
    find_links: Sequence[str | Path] | None
    python_downloads_json: str | None
    python_mirror: str | None
    uv_installer_url: str | None
    ca_file: str | Path | None
    proxy: str | None
    accelerator: str | None
    bundle: str | Path | None
    bundle_sha256: str | None
    order: BundleOrder | None
    offline: bool
    refresh: bool
    keep_added: bool


_OPTION_OF_KEY: Final = {
    "root": "root",
    "uv": "uv",
    "python": "python",
    "indexUrl": "index_url",
    "extraIndexUrls": "extra_index_urls",
    "indexStrategy": "index_strategy",
    "accelerator": "accelerator",
    "findLinks": "find_links",
    "caFile": "ca_file",
    "proxy": "proxy",
    "pythonDownloadsJson": "python_downloads_json",
    "pythonMirror": "python_mirror",
    "uvInstallerUrl": "uv_installer_url",
    "uvMethod": "uv_method",
    "bundleSha256": "bundle_sha256",
}
_OPTION_WORDS: Final = {"extra_index_urls": "--extra-index-url"}


def resolve_choices(settings: Settings, environ: Mapping[str, str], cwd: Path, **options: Unpack[ChoiceOptions]) -> Choices:
    """Merge settings, the ambient settings of pip and uv, and options; later wins.

    Args:
        settings: as ``load_settings`` returns them.
        environ: the environment of this process.
        cwd: the folder from which relative paths of options and variables count.
        options: see ``ChoiceOptions``.

    Raises:
        RefusedError: a value cannot be used; nothing has been changed.
    """
    resolver = _Resolver(settings, environ, cwd, options)
    try:
        return resolver.resolve()
    except RefusedError as error:
        note_locks(error, resolver.organisation)
        raise


def home_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder."""
    chosen = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    if Path(chosen).is_absolute():
        return Path(chosen)
    try:
        return Path(os.path.abspath(Path.home()))  # noqa: PTH100 - the variable may hold a relative path
    except RuntimeError:  # a user without an entry in the system's list, as in some containers
        return Path(os.sep)


class _Resolver:
    """One merge; ``credentials`` gathers what the addresses carried."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], cwd: Path, options: ChoiceOptions) -> None:
        self._settings = settings
        self._options = options
        self._cwd = cwd
        self._home = home_folder(environ)
        self._company = read_company_settings(environ, self._home)
        self._credentials: Credentials = {}
        self._login_places: dict[str, str] = {}
        self._ambient: list[str] = []
        self.organisation = self._fixed(environ)

    def resolve(self) -> Choices:
        self._check_locks()
        options = self._options
        if options.get("requirements") is not None and options.get("profile") is not None:
            raise RefusedError("AML_CHOICES_CONFLICT", first="--requirements", second="--profile")
        bundle = self._bundle()
        python, python_from_setting = self._python()
        index_url, extra_index_urls, find_links = self._indexes()
        requirements = options.get("requirements")
        return Choices(
            root=self._path("root", "root") or self._default_root(),
            requirements=self._absolute(requirements, self._cwd) if requirements is not None else None,
            profile=options.get("profile"),
            python=python,
            uv=self._existing_file("uv", "uv", "AML_UV_MISSING"),
            uv_method=self._uv_method(),
            index_url=index_url,
            extra_index_urls=extra_index_urls,
            index_strategy=self._index_strategy(),
            find_links=find_links,
            python_downloads_json=self._plain_url("pythonDownloadsJson", "python_downloads_json"),
            python_mirror=self._python_mirror(),
            uv_installer_url=self._plain_url("uvInstallerUrl", "uv_installer_url"),
            ca_file=self._ca_file(),
            proxy=self._proxy(),
            accelerator=self._accelerator(),
            bundle=bundle,
            bundle_sha256=self._bundle_sha256(),
            order=self._order(),
            offline=options.get("offline", Choices.offline) or self._settings.bundle_only,
            refresh=options.get("refresh", Choices.refresh),
            keep_added=options.get("keep_added", Choices.keep_added),
            kit=self._kit(),
            python_from_setting=python_from_setting,
            accelerator_from_setting=not options.get("accelerator") and bool(self._settings.text("accelerator")),
            ambient=tuple(self._ambient),
            trusted_hosts=tuple(f"{host.url} ({host.place})" for host in self._company.trusted_hosts),
            unused_ambient=self._company.unused,
            broken_ambient=self._company.broken,
            organisation=self.organisation,
            unknown_settings=self._settings.unknown,
            wrong_settings=self._wrong(),
            fixed=frozenset(_OPTION_OF_KEY.get(key, key) for key in self._settings.locked),
            credentials=self._credentials,
            login_places=self._login_places,
        )

    def _fixed(self, environ: Mapping[str, str]) -> Organisation | None:
        """Return what the machine-wide file fixes."""
        settings, folders = self._settings, self._settings.allowed_roots
        if settings.machine_file is None or not (settings.locked or settings.bundle_only or folders is not None):
            return None
        allowed = expanded_folders(folders, environ, self._home) if folders is not None else None
        return Organisation(settings.machine_file, settings.locked, settings.bundle_only, allowed, folders or ())

    def _wrong(self) -> tuple[Phrase, ...]:
        mirrors = tell_unusable(self._settings.user_file, self._settings.machine_file)
        return self._settings.wrong if mirrors is None else (*self._settings.wrong, mirrors)

    def _check_locks(self) -> None:
        file = str(self._settings.machine_file)
        for key, setting in self._settings.overruled.items():
            raise RefusedError("AML_SETTING_LOCKED", name=key, place=setting.place, file=file)
        for key in sorted(self._settings.locked):
            option = _OPTION_OF_KEY.get(key, "")
            given = self._options.get(option)
            if given is None or given == ():
                continue
            fixed = self._settings.values.get(key)
            said = tuple(map(str, given)) if isinstance(given, Sequence) and not isinstance(given, str) else str(given)
            if fixed is None or said != fixed.value:
                raise RefusedError("AML_SETTING_LOCKED", name=key, place=_option_words(option), file=file)
        python = self._options.get("python")
        version_locked = self._settings.is_locked("pythonVersion") and python is not None
        if version_locked and str(python) != self._settings.text("pythonVersion"):
            raise RefusedError("AML_SETTING_LOCKED", name="pythonVersion", place="--python", file=file)

    # paths

    def _path(self, key: str, option: str) -> Path | None:
        """Return the path that an option or a setting names, absolute."""
        given = self._options.get(option)
        if isinstance(given, str | Path) and str(given):
            return self._absolute(given, self._cwd)
        setting = self._settings.values.get(key)
        if setting is None or not isinstance(setting.value, str):
            return None
        return self._absolute(setting.value, self._base(setting))

    def _default_root(self) -> Path:
        """Return the usual workspace, or one in the first folder that the organisation allows where that is elsewhere."""
        usual, fixed = self._home / "aml", self.organisation
        if fixed is None or not fixed.allowed_roots or fixed.allows_root(usual):
            return usual
        return fixed.allowed_roots[0] / "aml"

    def _base(self, setting: Setting) -> Path:
        """Return the folder from which a relative path in a setting counts."""
        return self._cwd if setting.source is Source.VARIABLE else Path(setting.place).parent

    def _absolute(self, value: str | Path, base: Path) -> Path:
        text = str(value)
        if not is_path(text):
            raise RefusedError("AML_PATH_INVALID", path=text.replace("\0", "\\0"))
        if text == "~" or text.startswith(("~/", f"~{os.sep}")):
            text = str(self._home / text[2:])
        return Path(os.path.abspath(base / text))  # noqa: PTH100 - resolves "..", but no links

    def _existing_file(self, key: str, option: str, code: str) -> Path | None:
        path = self._path(key, option)
        if path is not None and not is_file(path):
            raise RefusedError(code, path=str(path), place=self._place(key, option), reason=why_no_file(path))
        return path

    def _place(self, key: str, option: str) -> str:
        if self._options.get(option):
            return _option_words(option)
        setting = self._settings.values.get(key)
        return setting.place if setting is not None else ""

    # bundles

    def _bundle(self) -> Path | None:
        given = self._options.get("bundle")
        if given is None or not str(given):
            return None
        for option, words in (("requirements", "--requirements"), ("profile", "--profile"), ("refresh", "--refresh")):
            if self._options.get(option):
                raise RefusedError("AML_CHOICES_CONFLICT", first="--bundle", second=words)
        return self._absolute(given, self._cwd)

    def _bundle_sha256(self) -> str | None:
        if self._options.get("bundle_sha256") and not self._options.get("bundle"):
            raise RefusedError("AML_BUNDLE_SHA256_ALONE")
        given = self._options.get("bundle_sha256") or self._settings.text("bundleSha256")
        if not given:
            return None
        if not _SHA256.fullmatch(given):
            raise RefusedError("AML_BUNDLE_SHA256_INVALID", value=given, place=self._place("bundleSha256", "bundle_sha256"))
        return given.lower()

    def _order(self) -> BundleOrder | None:
        order = self._options.get("order")
        if order is None:
            return None
        if order.python_version is not None:
            _checked_version(order.python_version, "--python-version")
        return replace(order, out=self._absolute(order.out, self._cwd))

    def _kit(self) -> Path | None:
        path = self._path("kit", "kit")
        if path is not None and not is_file(path / "amlkit.py"):
            raise RefusedError("AML_KIT_MISSING", path=str(path), place=self._place("kit", "kit"))
        return path

    def _ca_file(self) -> Path | None:
        chosen = self._existing_file("caFile", "ca_file", "AML_CA_FILE_MISSING")
        if chosen is not None:
            refuse_without_certificate(chosen, self._place("caFile", "ca_file"))
        if chosen is not None or self._company.cert is None or self._settings.is_locked("caFile"):
            return chosen
        refuse_without_certificate(self._company.cert, self._company.cert_place)
        self._note_ambient("cert", str(self._company.cert), self._company.cert_place)
        return self._company.cert

    # Python and uv

    def _python(self) -> tuple[str | None, bool]:
        """Return the version or the absolute path that was chosen, and whether it was not an option that did so."""
        given = self._options.get("python")
        if given is not None and str(given):
            return self._python_choice(str(given), self._cwd, "--python"), False
        setting = self._settings.values.get("python")
        if setting is not None and isinstance(setting.value, str):
            return self._python_choice(setting.value, self._base(setting), setting.place), True
        version = self._settings.values.get("pythonVersion")
        if version is not None and isinstance(version.value, str):
            return _checked_version(version.value, version.place), True
        return None, False

    def _python_choice(self, value: str, base: Path, place: str) -> str:
        path = self._absolute(value, base)
        if is_file(path):
            return str(path)
        if _VERSION_LIKE.fullmatch(value) and value[0].isdigit():
            return _checked_version(value, place)
        named_as_path = os.sep in value or "/" in value or value.startswith("~") or value.lower().endswith(".exe")
        if named_as_path or is_folder(path):
            raise RefusedError("AML_PYTHON_MISSING", path=str(path), reason=why_no_file(path))
        raise RefusedError("AML_PYTHON_VERSION_INVALID", version=value, place=place)

    def _uv_method(self) -> UvMethod:
        given = self._options.get("uv_method") or self._settings.text("uvMethod") or Choices.uv_method
        if given not in set(UvMethod):
            place, known = self._place("uvMethod", "uv_method"), ", ".join(UvMethod)
            raise RefusedError("AML_UV_METHOD_UNKNOWN", method=given, known=known, place=place)
        return UvMethod(given)

    def _index_strategy(self) -> IndexStrategy | None:
        given = self._options.get("index_strategy") or self._settings.text("indexStrategy")
        if not given:
            return None
        if given not in set(IndexStrategy):
            place, known = self._place("indexStrategy", "index_strategy"), ", ".join(IndexStrategy)
            raise RefusedError("AML_INDEX_STRATEGY_INVALID", strategy=given, known=known, place=place)
        return IndexStrategy(given)

    def _accelerator(self) -> str | None:
        given = self._options.get("accelerator") or self._settings.text("accelerator") or None
        if given not in (None, *ACCELERATORS):
            place, known = self._place("accelerator", "accelerator"), ", ".join(ACCELERATORS)
            raise RefusedError("AML_ACCELERATOR_INVALID", accelerator=given, known=known, place=place)
        return given

    # addresses

    def _indexes(self) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
        """Return index, extra indexes and folders of wheels.

        Where the user or the organisation named an index for amlwizard, the ambient ones of pip and uv add nothing to it: a
        package must not come from an index that nobody chose for this.
        """
        index = self._addresses("indexUrl", "index_url")
        extra = self._addresses("extraIndexUrls", "extra_index_urls")
        links = self._addresses("findLinks", "find_links")
        named = bool(index or extra) or bool(self._settings.locked & {"indexUrl", "extraIndexUrls"})
        company = CompanySettings() if named else self._company
        if company.index_url is not None:
            index = (company.index_url,)
        clean_index = [self._clean_url(address, "UV_DEFAULT_INDEX") for address in index]
        clean_extra = tuple(self._clean_url(address, "UV_INDEX") for address in extra or company.extra_index_urls)
        ambient_links = () if self._settings.is_locked("findLinks") else company.find_links
        clean_links = tuple(self._links(links or ambient_links, required=bool(links)))
        if company.index_url is not None:
            self._note_ambient("index-url", clean_index[0], company.index_url.place)
        if not extra:
            for clean, address in zip(clean_extra, company.extra_index_urls, strict=True):
                self._note_ambient("extra-index-url", clean, address.place)
        self._take_ambient_logins((*clean_index, *clean_extra, *clean_links))
        return next(iter(clean_index), None), clean_extra, clean_links

    def _addresses(self, key: str, option: str) -> tuple[Sourced, ...]:
        given = self._options.get(option)
        if given:
            items = (given,) if isinstance(given, str) else given
            assert isinstance(items, Sequence)  # noqa: S101 - the options of this method are texts and lists of texts
            return tuple(Sourced(str(item), _option_words(option)) for item in items)
        setting = self._settings.values.get(key)
        if setting is None:
            return ()
        values = (setting.value,) if isinstance(setting.value, str) else setting.value
        return tuple(Sourced(value, setting.place) for value in values)

    def _clean_url(
        self,
        address: Sourced,
        variable: str,
        code: str = "AML_INDEX_URL_INVALID",
    ) -> str:
        """Return an address without userinfo; only variables and the files of pip and uv may have had some."""
        return self._clean(split_url(address.url, address.place, code=code), address.place, variable)

    def _clean(self, split: SplitUrl, place: str, variable: str) -> str:
        if split.login is not None:
            if self._is_ours(place):
                raise RefusedError("AML_URL_HAS_CREDENTIALS", place=place, variable=variable)
            self._learn(split.origin, split.login, place)
        return split.clean

    def _learn(self, origin: str, login: tuple[str, str], place: str) -> None:
        if origin not in self._credentials:
            self._credentials[origin], self._login_places[origin] = login, place

    def _is_ours(self, place: str) -> bool:
        """Tell whether the place is an option or one of our settings files, where no secret may stand."""
        files = {setting.place for setting in self._settings.values.values() if setting.source is not Source.VARIABLE}
        return place.startswith("--") or place in files

    def _note_ambient(self, key: str, value: str, place: str) -> None:
        self._ambient.append(f"{key} {value} ({place})")

    def _links(self, links: Sequence[Sourced], *, required: bool) -> list[str]:
        found = []
        for link in links:
            if "://" in link.url:
                clean = self._clean_url(link, "PIP_FIND_LINKS")
            else:
                base = Path(link.place).parent if self._is_ours(link.place) and link.place[0] != "-" else self._cwd
                clean = str(self._absolute(link.url, base))
                if not is_folder(clean):
                    if required:
                        reason = why_no_folder(clean)
                        raise RefusedError("AML_FIND_LINKS_MISSING", path=clean, place=link.place, reason=reason)
                    continue
            found.append(clean)
            if not required:
                self._note_ambient("find-links", clean, link.place)
        return found

    def _take_ambient_logins(self, used: Sequence[str]) -> None:
        """Take from the ambient addresses the logins of origins that are used, and no other ones."""
        origins = {split_url(url, "").origin for url in used if "://" in url}
        company = self._company
        ambient = (company.index_url, *company.extra_index_urls, *company.find_links)
        for address in ambient:
            if address is None or "@" not in address.url or "://" not in address.url:
                continue
            try:
                split = split_url(address.url, address.place)
            except RefusedError:
                continue  # it is not used, and not ours to judge
            if split.login is not None and split.origin in origins:
                self._learn(split.origin, split.login, address.place)
        for url, login in company.logins.items():
            try:
                origin = split_url(url, "").origin
            except RefusedError:
                continue
            if origin in origins:
                self._learn(origin, login, "UV_INDEX_*_PASSWORD")

    def _python_mirror(self) -> str | None:
        """Return the mirror of the settings, else that of uv's own."""
        chosen = self._plain_url("pythonMirror", "python_mirror")
        ambient = self._company.python_mirror
        if chosen is not None or ambient is None or self._settings.is_locked("pythonMirror"):
            return chosen
        clean = self._clean_url(ambient, "netrc", code="AML_URL_INVALID")
        self._note_ambient("python-install-mirror", clean, ambient.place)
        return clean

    def _plain_url(self, key: str, option: str) -> str | None:
        """Return the address of a file; its credentials belong into netrc."""
        for address in self._addresses(key, option):
            return self._clean_url(address, "netrc", "AML_URL_INVALID")
        return None

    def _proxy(self) -> str | None:
        """Return the chosen proxy, else that of pip; the credentials of a chosen one belong into a variable."""
        for address in self._addresses("proxy", "proxy"):
            return self._clean(split_proxy(address.url, address.place), address.place, "HTTPS_PROXY")
        ambient = self._company.proxy
        if ambient is None or self._settings.is_locked("proxy"):
            return None
        clean = self._clean(split_proxy(ambient.url, ambient.place), ambient.place, "HTTPS_PROXY")
        self._note_ambient("proxy", clean, ambient.place)
        return clean


def _checked_version(value: str, place: str) -> str:
    if not _VERSION.fullmatch(value):
        raise RefusedError("AML_PYTHON_VERSION_INVALID", version=value, place=place)
    major, minor, *patch = map(int, value.split("."))
    minimum = ".".join(map(str, MINIMUM_PYTHON))
    if (major, minor) < MINIMUM_PYTHON:
        raise RefusedError("AML_PYTHON_VERSION_TOO_OLD", version=value, minimum=minimum, place=place)
    if major > MINIMUM_PYTHON[0] or max(minor, *patch, 0) > _LARGEST_PART:
        raise RefusedError("AML_PYTHON_VERSION_UNKNOWN", version=value, minimum=minimum, place=place)
    return value


def _option_words(option: str) -> str:
    return _OPTION_WORDS.get(option, f"--{option.replace('_', '-')}")
