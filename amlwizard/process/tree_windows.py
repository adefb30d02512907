"""Process trees on Windows: a Job object for each command, which ends with its handle.

The job gets no breakaway flag, so a child that asks to leave an inner job cannot leave this one. A child cannot be
started suspended, hence it is put into the job at once after its start, and the ending looks once for what was started
before that. Consoles ignore a polite request to close, so the job is ended directly.
"""

from __future__ import annotations

import ctypes
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import psutil

from amlwizard.core.running import RUN_TAG_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

_CTYPES: Final[Any] = ctypes
"""The same module for calls that its type stubs know on Windows only."""

_KILL_ON_JOB_CLOSE: Final = 0x2000
_EXTENDED_LIMIT_INFORMATION: Final = 9
_BASIC_ACCOUNTING_INFORMATION: Final = 1
_BASIC_PROCESS_ID_LIST: Final = 3
_LISTED_IDS: Final = 4096
_CONSOLE_HOST: Final = "conhost.exe"
_PROCESS_SET_QUOTA: Final = 0x0100
_PROCESS_TERMINATE: Final = 0x0001
_ENDED_BY_US: Final = 1
_LOOK_SECONDS: Final = 0.01


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory_limit", ctypes.c_size_t),
        ("job_memory_limit", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class _Accounting(ctypes.Structure):
    _fields_ = (
        ("total_user_time", ctypes.c_int64),
        ("total_kernel_time", ctypes.c_int64),
        ("period_user_time", ctypes.c_int64),
        ("period_kernel_time", ctypes.c_int64),
        ("page_faults", ctypes.c_uint32),
        ("total_processes", ctypes.c_uint32),
        ("active_processes", ctypes.c_uint32),
        ("terminated_processes", ctypes.c_uint32),
    )


class _ProcessIds(ctypes.Structure):
    _fields_ = (
        ("assigned", ctypes.c_uint32),
        ("listed", ctypes.c_uint32),
        ("ids", ctypes.c_size_t * _LISTED_IDS),
    )


class Kernel(Protocol):
    """The few calls that are needed of the system."""

    def create_job(self) -> int:
        """Make a job that ends its processes when its handle is closed."""
        ...

    def assign(self, job: int, pid: int) -> None:
        """Put a process into the job; raises OSError."""
        ...

    def terminate_job(self, job: int) -> None:
        """End every process of the job."""
        ...

    def active_in_job(self, job: int) -> int:
        """Return how many processes of the job are alive."""
        ...

    def programs_in_job(self, job: int) -> int:
        """Return how many of them somebody started: the host of a console is the system's."""
        ...

    def close(self, job: int) -> None:
        """Close the handle of the job."""
        ...

    def descendants(self, pid: int) -> list[psutil.Process]:
        """Return the process and its descendants as far as the parents' ids still tell."""
        ...

    def tagged(self, tag: str) -> list[psutil.Process]:
        """Return this user's processes that carry the run tag."""
        ...

    def kill(self, process: psutil.Process) -> bool:
        """End one process by its id and creation time; False where it was gone."""
        ...


class WindowsKernel:
    """The real calls."""

    def __init__(self) -> None:
        library: Any = _CTYPES.WinDLL("kernel32", use_last_error=True)
        self._api = library
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(library, name).restype = ctypes.c_void_p
        library.CreateJobObjectW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p]
        library.OpenProcess.argtypes = [ctypes.c_uint32, ctypes.c_int, ctypes.c_uint32]
        library.SetInformationJobObject.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32]
        library.QueryInformationJobObject.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.c_void_p,
        ]
        library.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        library.TerminateJobObject.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        library.CloseHandle.argtypes = [ctypes.c_void_p]

    @staticmethod
    def _check(result: Any) -> Any:
        if not result:
            raise _CTYPES.WinError(_CTYPES.get_last_error())
        return result

    def create_job(self) -> int:
        """Make a job that ends its processes when its handle is closed."""
        job = int(self._check(self._api.CreateJobObjectW(None, None)))
        limits = _ExtendedLimits()
        limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
        try:
            self._check(
                self._api.SetInformationJobObject(
                    job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
                )
            )
        except OSError:
            self.close(job)
            raise
        return job

    def assign(self, job: int, pid: int) -> None:
        """Put a process into the job; raises OSError."""
        handle = self._check(self._api.OpenProcess(_PROCESS_SET_QUOTA | _PROCESS_TERMINATE, 0, pid))
        try:
            self._check(self._api.AssignProcessToJobObject(job, handle))
        finally:
            self._api.CloseHandle(handle)

    def terminate_job(self, job: int) -> None:
        """End every process of the job."""
        self._api.TerminateJobObject(job, _ENDED_BY_US)

    def active_in_job(self, job: int) -> int:
        """Return how many processes of the job are alive."""
        accounting = _Accounting()
        self._check(
            self._api.QueryInformationJobObject(
                job, _BASIC_ACCOUNTING_INFORMATION, ctypes.byref(accounting), ctypes.sizeof(accounting), None
            )
        )
        return int(accounting.active_processes)

    def programs_in_job(self, job: int) -> int:
        """Return how many of them somebody started."""
        found = _ProcessIds()
        self._check(
            self._api.QueryInformationJobObject(
                job, _BASIC_PROCESS_ID_LIST, ctypes.byref(found), ctypes.sizeof(found), None
            )
        )
        return sum(_is_program(pid) for pid in found.ids[: found.listed])

    def close(self, job: int) -> None:
        """Close the handle of the job."""
        self._api.CloseHandle(job)

    def descendants(self, pid: int) -> list[psutil.Process]:
        """Return the process and its descendants as far as the parents' ids still tell."""
        try:
            root = psutil.Process(pid)
            return [root, *root.children(recursive=True)]
        except psutil.Error:
            return []

    def tagged(self, tag: str) -> list[psutil.Process]:
        """Return this user's processes that carry the run tag."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get(RUN_TAG_VARIABLE) == tag:
                    found.append(process)
        return found

    def kill(self, process: psutil.Process) -> bool:
        """End one process by its id and creation time; False where it was gone."""
        try:
            process.kill()
            process.wait(5)
        except (psutil.Error, OSError):
            return False
        return True


def _is_program(pid: int) -> bool:
    try:
        return psutil.Process(pid).name().lower() != _CONSOLE_HOST
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # a console host would tell its name
        return True


class WindowsTree:
    """The processes of one command on Windows."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._job: int | None = kernel.create_job()
        self._root: int | None = None
        self._early: list[psutil.Process] = []

    def adopt(self, pid: int) -> None:
        """Put the child into the job, and note what it started before it was there."""
        self._root = pid
        with suppress(OSError):  # it is over already
            self._kernel.assign(self._job or 0, pid)
        self._early = self._kernel.descendants(pid)

    def count(self) -> int:
        """Return how many processes of the tree are alive; none counts once the job is being ended, which takes no time."""
        job = self._job
        if job is None:
            return 0
        try:
            return self._kernel.programs_in_job(job)
        except OSError:  # it has just been closed
            return 0

    def end(self) -> int:
        """End every process of the tree; return how many were stopped."""
        if self._job is None:
            return 0
        job, self._job = self._job, None
        # The look comes first: once the root is gone, its descendants cannot be found by their parents any more.
        strays = self._early + (self._kernel.descendants(self._root) if self._root is not None else [])
        stopped = self._kernel.programs_in_job(job)
        self._kernel.terminate_job(job)
        while self._kernel.active_in_job(job):
            time.sleep(_LOOK_SECONDS)
        self._kernel.close(job)
        return stopped + sum(self._kernel.kill(process) for process in dict.fromkeys(strays))

    def discard(self) -> None:
        """Close the job of a child that was never started."""
        if self._job is not None and self._root is None:
            self._kernel.close(self._job)
            self._job = None


class WindowsTreeKeeper:
    """Makes the trees of one runner."""

    def __init__(self, run_tag: str, kernel: Kernel | None = None) -> None:
        self._run_tag = run_tag
        self._kernel: Kernel = kernel if kernel is not None else WindowsKernel()

    @contextmanager
    def starting(self) -> Iterator[WindowsTree]:
        """Prepare a tree; the child is started and adopted within the context."""
        tree = WindowsTree(self._kernel)
        try:
            yield tree
        finally:
            tree.discard()

    def sweep(self) -> int:
        """End whatever carries the run tag; return how many processes were stopped."""
        return sum(self._kernel.kill(process) for process in self._kernel.tagged(self._run_tag))
