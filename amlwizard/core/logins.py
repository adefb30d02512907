"""Logins that last from run to run: the system's keyring keeps them, never a file or an argument (promise P6).

Where there is no keyring, a login lasts for the run alone: it stands in ``Choices.credentials``, by its origin.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import AmlError
from amlwizard.core.index_urls import split_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from keyring.backend import KeyringBackend

_T = TypeVar("_T")

SYSTEM_KEYRINGS: Final = frozenset(
    f"keyring.backends.{name}" for name in ("Windows", "macOS", "SecretService", "libsecret", "kwallet")
)
"""The modules of the backends that are the system's own. Others may keep plain files, so nothing is given to them."""
READ_SECONDS: Final = 10.0
"""The limit for a login that a run needs; the system may ask for the keyring's password meanwhile."""
KEEP_SECONDS: Final = 60.0
"""The same where a person waits for it in the window."""
_SERVICE: Final = "amlwizard"


class LoginStore(Protocol):
    """Keeps a user and a password for each origin (``login_origin``). All methods block, at most for their limit."""

    def problem(self) -> Phrase | None:
        """Return why nothing can be kept on this computer, in words; None where it can."""
        ...

    def read(self, origin: str) -> tuple[str, str] | None:
        """Return the user and the password of exactly this origin; None where none are kept or nobody can tell."""
        ...

    def keep(self, origin: str, user: str, password: str) -> None:
        """Keep them in the place of those that were kept.

        Raises:
            AmlError: ``AML_LOGIN_NOT_KEPT``; they can serve for the run.
        """
        ...

    def forget(self, origin: str) -> None:
        """Keep nothing for this origin any more; it does no harm where nothing was kept.

        Raises:
            AmlError: ``AML_LOGIN_NOT_FORGOTTEN``.
        """
        ...


def login_origin(url: str) -> str:
    """Return the origin under which the login of an index or a proxy is kept, such as ``https://index.example.org``.

    Raises:
        RefusedError: this is no address.
    """
    return split_url(url if "://" in url else f"http://{url}", "").origin


class SystemLogins:
    """The keyring of the system: Windows' credentials, macOS' keychain, the Secret Service or KWallet.

    A login is one entry of the service ``amlwizard``, named by its origin, with ``user:password`` as its secret. Each
    question is asked by a thread of its own, which is left behind where a locked keyring or a dead bus keeps it too long.
    """

    def __init__(self, trusted: Collection[str] = SYSTEM_KEYRINGS, seconds: float | None = None) -> None:
        """Make a store.

        Args:
            trusted: the modules of the backends that may be used.
            seconds: replaces both limits.
        """
        self._trusted = frozenset(trusted)
        self._read_seconds = READ_SECONDS if seconds is None else seconds
        self._keep_seconds = KEEP_SECONDS if seconds is None else seconds
        self._lock = threading.Lock()
        self._left: threading.Thread | None = None
        self._problem: Phrase | None = None

    def problem(self) -> Phrase | None:
        """Return why nothing can be kept; see ``LoginStore.problem``."""
        try:
            self._ask(lambda _: None, self._read_seconds)
        except _UnusableError as error:
            return error.reason
        return None

    def read(self, origin: str) -> tuple[str, str] | None:
        """Return a login; see ``LoginStore.read``."""
        try:
            secret = self._ask(lambda keyring: keyring.get_password(_SERVICE, origin), self._read_seconds)
        except _UnusableError:
            return None
        user, colon, password = (secret or "").partition(":")
        return (user, password) if colon else None

    def keep(self, origin: str, user: str, password: str) -> None:
        """Keep a login; see ``LoginStore.keep``."""
        if ":" in user:  # where a password begins could not be told, neither here nor by a server
            raise AmlError("AML_LOGIN_NOT_KEPT", origin=origin, reason=Phrase("logins.colon"))
        try:
            self._ask(lambda keyring: keyring.set_password(_SERVICE, origin, f"{user}:{password}"), self._keep_seconds)
        except _UnusableError as error:
            raise AmlError("AML_LOGIN_NOT_KEPT", origin=origin, reason=error.reason) from None

    def forget(self, origin: str) -> None:
        """Forget a login; see ``LoginStore.forget``."""

        def forget(keyring: KeyringBackend) -> None:
            if keyring.get_password(_SERVICE, origin) is not None:
                keyring.delete_password(_SERVICE, origin)

        try:
            self._ask(forget, self._keep_seconds)
        except _UnusableError as error:
            raise AmlError("AML_LOGIN_NOT_FORGOTTEN", origin=origin, reason=error.reason) from None

    def _ask(self, question: Callable[[KeyringBackend], _T], seconds: float) -> _T:
        """Put a question to the keyring.

        Raises:
            _UnusableError: there is none, or it gave no answer.
        """
        answers: list[_T] = []
        problems: list[Phrase] = []

        def ask() -> None:
            try:
                answers.append(question(_backend(self._trusted)))
            except _UnusableError as error:
                problems.append(error.reason)
            except Exception as error:  # noqa: BLE001 - backends raise what their libraries raise
                problems.append(Phrase("logins.failed", {"reason": str(error) or type(error).__name__}))

        with self._lock:
            if self._left is not None and self._left.is_alive():
                raise _UnusableError(Phrase("logins.silent"))
            self._left = threading.Thread(target=ask, name="keyring", daemon=True)
            self._left.start()
            self._left.join(seconds)
            if self._left.is_alive():
                raise _UnusableError(Phrase("logins.silent"))
        if problems:
            raise _UnusableError(problems[0])
        return answers[0]


class _UnusableError(Exception):
    """The keyring cannot be used; ``reason`` says why."""

    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason.key)
        self.reason = reason


def _backend(trusted: Collection[str]) -> KeyringBackend:
    """Return the backend that is set up on this computer, or the first trusted one where several are chained."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        raise _UnusableError(Phrase("logins.no_library")) from None
    found = keyring.get_keyring()
    chained: list[Any] = [*getattr(found, "backends", ()), found]
    for each in chained:
        if type(each).__module__ in trusted:
            return each  # type: ignore[no-any-return]
    if isinstance(found, fail.Keyring | null.Keyring):
        raise _UnusableError(Phrase("logins.none"))
    raise _UnusableError(Phrase("logins.foreign", {"name": f"{type(found).__module__}.{type(found).__qualname__}"}))
