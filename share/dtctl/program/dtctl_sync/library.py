"""libdtctl_sync.so (dtctl_sync.h) by ctypes, and MPI for as long as the process lasts; or, where MPI has not started the ranks,
libdtctl_sync_torch.so, whose ranks find each other as torch.distributed does."""

import atexit
import ctypes
import os
import pathlib
import secrets
import socket

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
    SUM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, size, size, ctypes.POINTER(ctypes.c_int), size)
    _fields_ = [("context", ctypes.c_void_p), ("compute", COMPUTE), ("update", UPDATE), ("fetch", FETCH), ("store", STORE), ("make", MAKE),
                ("combine", COMBINE), ("sum", SUM)]


class Place(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("rank", "ranks", "local_rank", "worker", "workers")]


class Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("communication_s", "in_compute_s", "update_s")]


def _goes_without_mpi():
    """As the recipe says (sync.transport), or as the ranks were started: torchrun and others tell the ranks where they meet. mpirun and srun with
    MPI have variables of their own beside these; a launcher that they have started passes them on."""
    if "DTCTL_SYNC_TRANSPORT" in os.environ:
        return os.environ["DTCTL_SYNC_TRANSPORT"] == "tcp"
    has_launcher = any(name in os.environ for name in ("TORCHELASTIC_RUN_ID", "DTCTL_LAUNCHER"))
    by_mpi = not has_launcher and any(name in os.environ for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"))
    return not by_mpi and all(name in os.environ for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))


def _find_library(name):
    """The one beside that which dtctl names; else that of the installation or of the build tree in which this file lies."""
    named, here = os.environ.get("DTCTL_SYNC_LIBRARY"), pathlib.Path(__file__).resolve()
    if named:
        return str(pathlib.Path(named).with_name(name)) if pathlib.Path(named).name in (MPI, WITHOUT_MPI) else named
    prefix = here.parents[min(4, len(here.parents) - 1)]
    found = [file for folder in ("lib/dtctl/modules", "lib/*/dtctl/modules", "build/*/lib") for file in sorted(prefix.glob(f"{folder}/{name}"))]
    return str(found[-1]) if found else name


MPI, WITHOUT_MPI = "libdtctl_sync.so", "libdtctl_sync_torch.so"


def _open(name):
    path = _find_library(name)
    try:
        # RTLD_GLOBAL: plug-ins of Open MPI look for its symbols in the whole process.
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL if name == MPI else ctypes.RTLD_LOCAL)
    except OSError as error:
        remedy = "install dtctl's engine, let torchrun start the ranks, or name the library" if name == MPI else "name the library"
        raise ImportError(f"dtctl_sync: {path} cannot be loaded ({error}); {remedy} in DTCTL_SYNC_LIBRARY") from None


def _load():
    if dtctl_report.is_active():
        os.environ["DTCTL_REPORT"] = dtctl_report.report_path()  # the library writes there, too, behind what the module says of this process
        dtctl_report.script.flush()
    library = _open(WITHOUT_MPI if _goes_without_mpi() else MPI)
    library.dtctl_sync_error.restype = ctypes.c_char_p
    if hasattr(library, "dtctl_sync_join"):
        library.dtctl_sync_listen.argtypes = [ctypes.POINTER(ctypes.c_int)]
        library.dtctl_sync_join.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
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


def _own_address(port, others):
    """An address of this host that the others reach: that from which this host would send to the place where all meet."""
    host = "127.0.0.1"
    for place in (os.environ["MASTER_ADDR"], "192.0.2.1") if others else ():  # the second one is nobody's: the way out of this host
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect((place, 9))
                host = probe.getsockname()[0]
        except OSError:
            continue
        if not host.startswith("127."):
            break
    return f"{host}:{port.value}"


def _join():
    """All ranks tell each other their addresses in a store of torch.distributed, that of the script's process group where it has one."""
    import torch.distributed as dist

    if dist.is_initialized():
        store, rank, ranks = dist.distributed_c10d._get_default_store(), dist.get_rank(), dist.get_world_size()
    else:
        store, rank, ranks = next(iter(dist.rendezvous("env://")))
    store = dist.PrefixStore("dtctl_sync", store)
    port = ctypes.c_int()
    call("listen", ctypes.byref(port))
    store.set(f"rank {rank}", _own_address(port, ranks > int(os.environ.get("LOCAL_WORLD_SIZE", ranks))))
    if rank == 0:
        store.set("secret", secrets.token_hex(16))
    addresses = " ".join(store.get(f"rank {other}").decode() for other in range(ranks))
    call("join", rank, addresses.encode(), store.get("secret"))
    return store  # rank 0 may hold it for the others


_store = None


def store():
    """In which ranks without MPI have found each other; None: they have MPI."""
    return _store


def begin_mpi():
    global _store
    if not _anchor:
        if hasattr(library, "dtctl_sync_join"):
            _store = _join()
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
