"""libdtctl_sync.so (dtctl_sync.h) by ctypes, and MPI for as long as the process lasts."""

import atexit
import ctypes
import os
import pathlib

import dtctl_report


class SyncError(RuntimeError):
    """What the library says about a call that failed."""


size, _floats = ctypes.c_size_t, ctypes.c_void_p


class Callbacks(ctypes.Structure):
    COMPUTE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64))
    UPDATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_float)
    FETCH = STORE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, size, size)
    MAKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, _floats, size)
    COMBINE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_int, ctypes.c_float] * 3, size, size)
    _fields_ = [("context", ctypes.c_void_p), ("compute", COMPUTE), ("update", UPDATE), ("fetch", FETCH), ("store", STORE), ("make", MAKE),
                ("combine", COMBINE)]


class Place(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("rank", "ranks", "local_rank", "worker", "workers")]


class Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("communication_s", "in_compute_s", "update_s")]


def _find_library():
    """The one that dtctl names; else that of the installation or of the build tree in which this file lies."""
    named, name, here = os.environ.get("DTCTL_SYNC_LIBRARY"), "libdtctl_sync.so", pathlib.Path(__file__).resolve()
    if named:
        return named
    prefix = here.parents[min(4, len(here.parents) - 1)]
    found = sorted([*prefix.glob(f"lib/**/dtctl/{name}"), *prefix.glob(f"build/*/lib/{name}")])
    return str(found[-1]) if found else name


def _load():
    path = _find_library()
    try:
        # RTLD_GLOBAL: plug-ins of Open MPI look for its symbols in the whole process.
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(f"dtctl_sync: {path} cannot be loaded ({error}); name the library in DTCTL_SYNC_LIBRARY") from None
    library.dtctl_sync_error.restype = ctypes.c_char_p
    for name, types in {
        "open": [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
        "get_place": [ctypes.c_void_p, ctypes.POINTER(Place)],
        "setting": [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)],
        "layout": [ctypes.c_void_p, size, ctypes.POINTER(size), ctypes.POINTER(size), ctypes.POINTER(size)],
        "start": [ctypes.c_void_p, ctypes.c_char_p, _floats, _floats, ctypes.POINTER(Callbacks)],
        "step": [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.POINTER(ctypes.c_double)],
        "gradient": [ctypes.c_void_p, size],
        "absent": [ctypes.c_void_p, size],
        "all_absent": [ctypes.c_void_p, ctypes.POINTER(size), ctypes.POINTER(size)],
        "gather": [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), size, ctypes.POINTER(ctypes.c_double)],
        "keeps_equal": [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)],
        "get_times": [ctypes.c_void_p, ctypes.POINTER(Times)],
        "broadcast": [ctypes.c_void_p, _floats, size],
        "mean": [ctypes.c_void_p, _floats, size],
        "evaluated": [ctypes.c_void_p, _floats],
        "state": [ctypes.c_void_p, size, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_floats), ctypes.POINTER(size)],
        "resume": [ctypes.c_void_p, ctypes.c_int64],
        "span": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_double, ctypes.c_double],
        "finish": [ctypes.c_void_p],
        "close": [ctypes.c_void_p],
    }.items():
        getattr(library, "dtctl_sync_" + name).argtypes = types
    return library


library = _load()


def call(name, *arguments):
    if getattr(library, "dtctl_sync_" + name)(*arguments) != 0:
        raise SyncError(library.dtctl_sync_error().decode(errors="replace"))


_anchor = ctypes.c_void_p()  # a handle without a training, so that MPI lasts until the process ends: a script may train several models


def begin_mpi():
    if not _anchor:
        call("open", b"sync.strategy=sync-sgd sync.allreduce=mpi sync.progress=none", ctypes.byref(_anchor))
        atexit.register(_end_mpi, os.getpid())


def _end_mpi(pid):
    if os.getpid() == pid and not has_failed():
        call("close", _anchor)


def words(settings):
    """KEY=VALUE words of {"period": 4, "outer": {"rule": "nesterov"}}; names without a block are keys of `sync`."""
    found = []
    for name, value in settings.items():
        path = name if "." in name else "sync." + name
        if isinstance(value, dict):
            found += words({f"{path}.{inner}": each for inner, each in value.items()})
        else:
            found.append(f"{path}={str(value).lower() if isinstance(value, bool) else value}")
    return found


# ---- how this process ends --------------------------------------------------------------------------------------------------------

if not dtctl_report.is_active():  # else dtctl_report does so
    dtctl_report.report_exceptions(dtctl_report.script)


def note_failure():
    dtctl_report.script.has_failed = True


def has_failed():
    """Whether an exception has ended the script or a step. MPI is then left as it is: the launcher ends the other ranks."""
    return dtctl_report.script.has_failed
