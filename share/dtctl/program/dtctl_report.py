"""Reports the figures of a training to dtctl.

    import dtctl_report as report

    report.begin()                                # just before the first step
    for batch in batches:
        with report.phase("input"):
            images, labels = next(batch)
        ...
        report.step(loss=loss.item(), samples=len(labels))
    report.evaluation(accuracy=0.98)              # between 0 and 1
    report.result()                               # at the end of the training; without it the run has failed

Call begin(), step() and evaluation() on every rank, each with the samples of this rank; dtctl adds them up. Where only rank 0
calls step(), its samples must be those of all ranks. Only the result() of rank 0 counts.

dtctl puts the folder of this file on PYTHONPATH. In a process that dtctl has not started, all functions do nothing. The module
uses the standard library only. Each call writes one line to the file that DTCTL_REPORT names (report_path).
"""

import atexit
import contextlib
import math
import os
import re
import sys
import threading
import time

PHASES = ("input", "forward", "backward", "communication", "optimizer")


def report_path():
    """The file for the lines of this process; empty in a process that is no rank of a run. Where a launcher such as torchrun starts
    the ranks, DTCTL_LAUNCHER is the launcher's process, and the file of a rank has the number that the launcher gives it."""
    path = os.environ.get("DTCTL_REPORT", "")
    if path.endswith("{RANK}"):
        rank = os.environ.get("RANK")
        return path[: -len("{RANK}")] + rank if rank else ""
    return "" if os.environ.get("DTCTL_LAUNCHER") == str(os.getpid()) else path


def is_active():
    """Whether dtctl has started this process."""
    return bool(report_path())


# ---- lines ------------------------------------------------------------------------------------------------------------------------


def _figure(value):
    """A figure that may be NaN or infinite. None: it is not known."""
    if value is None:
        return "-"
    number = float(value)
    return "NaN" if math.isnan(number) else repr(number)


def _accuracy(value):
    if value is not None and not (math.isnan(float(value)) or 0 <= float(value) <= 1):
        raise ValueError(f"dtctl_report: accuracy is {float(value)!r}, but must be between 0 and 1")
    return _figure(value)


def _quantity(value, name):
    """A time or a count."""
    if value is not None and not 0 <= float(value) < math.inf:
        raise ValueError(f"dtctl_report: {name} is {float(value)!r}, but must be a finite number of at least 0")
    return _figure(value)


class Report:
    """The lines of a rank's training (jobs/program/reports/report_lines.hpp has their grammar), with the number of its steps and its clock."""

    def __init__(self):
        self.step = 0
        self.mark = None  # when the last begin, step or evaluation ended
        self.exchange = None  # the last word of tell_exchange()
        self.has_failed = False  # by an uncaught exception
        self._file = None
        self._unwritten = b""  # lines that could not be written yet

    def write(self, *words):
        if self._file is None and not is_active():
            return
        self._unwritten += " ".join(map(str, words)).encode("utf-8", "replace") + b"\n"
        try:
            self.flush()
        except OSError:
            pass  # a full disk must not end the training: the next call tries again

    def flush(self):
        if self._file is None:
            self._file = os.open(report_path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            if os.environ.get("DTCTL_LAUNCHER"):
                world, restarts = (os.environ.get(name) or default for name, default in (("WORLD_SIZE", "1"), ("TORCHELASTIC_RESTART_COUNT", "0")))
                self._unwritten = f"worker {os.getpid()} {world} {restarts}\n".encode() + self._unwritten
        while self._unwritten:
            self._unwritten = self._unwritten[os.write(self._file, self._unwritten):]

    def begins(self, step, at):
        self.step, self.mark = step, at
        self.write("begin", repr(at), step)

    def ends_step(self, at, phases, samples=None, loss=None, learning_rate=None, epoch=None, apart_s=0.0):
        """phases: seconds by name. apart_s: the part of the time since the last line that belongs to no step."""
        length = None if self.mark is None else max(0.0, at - self.mark - apart_s)
        words = [_quantity(samples, "samples"), _figure(loss), _figure(learning_rate), _quantity(epoch, "epoch")]
        self.step += 1
        self.mark = at
        self.write("step", self.step, repr(at), _figure(length), *words, *(_figure(phases.get(name)) for name in PHASES))

    def evaluates(self, at, length_s, accuracy=None, loss=None, samples=None):
        words = [_accuracy(accuracy), _figure(loss), _quantity(samples, "samples")]
        self.write("eval", self.step, repr(at), _figure(length_s), *words)

    def pauses(self, *lengths_s):
        """Before the next step: the time of loaders, checkpoints and all else between two epochs."""
        self.write("pause", *map(_figure, lengths_s))

    def caveat(self, kind, sentence):
        """What limits the measurement of the run."""
        self.write("caveat", f"{kind}\t{sentence}")

    def fact(self, name, text):
        """How the run was made or measured."""
        self.write("choice", f"{name}\t{text}")

    def error(self, cause):
        self.write("error", self.step, repr(time.time()), " ".join(str(cause).split()) or "unknown")

    def result(self, parameters):
        """Raises OSError if the report could not be written."""
        try:
            with open("/proc/self/status", encoding="ascii", errors="replace") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        self.write("memory", int(line.split()[1]) * 1024)
        except (OSError, ValueError, IndexError):
            pass
        self.write("result", repr(time.monotonic()), _quantity(parameters, "parameters"))
        if is_active():
            self.flush()

    def is_exchange_looked_at(self):
        """Whether it is looked at after this step how the process exchanges anything with other ranks: 1, 4, 16, 64, …"""
        return self.step & (self.step - 1) == 0 and self.step.bit_length() % 2 == 1

    def tell_exchange(self, word):
        """Tells how this process exchanges anything with other ranks (jobs/program/reports/exchange.hpp has the words)."""
        if self.exchange == "some" or word == self.exchange or (word == "none" and self.exchange is not None):
            return  # a connection that was closed counts, too
        self.exchange = word
        self.write("exchange", word)

    def fails(self, value):
        """The training has failed by this exception."""
        self.has_failed = True
        with contextlib.suppress(Exception):
            kind = type(value).__name__
            self.error(f"{kind}: {value}" if str(value) else kind)


# ---- what a script calls ----------------------------------------------------------------------------------------------------------

_lock = threading.RLock()
script = Report()
_phase_s = {}
_observed = None  # the last step of observe_step(): samples, loss, end


def _require_phase(name):
    if name not in PHASES:
        raise ValueError(f"dtctl_report: there is no phase {name!r}; use one of: {', '.join(PHASES)}")


def begin(step=0, at=None):
    """The training begins now. A program that goes on from a checkpoint gives the number of steps that were done before. at:
    time.monotonic() at the begin, if it is reported later."""
    with _lock:
        _phase_s.clear()
        script.begins(int(step), time.monotonic() if at is None else at)


@contextlib.contextmanager
def phase(name):
    """Adds the time of a `with` block to a phase of the current step."""
    _require_phase(name)
    started = time.perf_counter()
    try:
        yield
    finally:
        with _lock:
            _phase_s[name] = _phase_s.get(name, 0.0) + time.perf_counter() - started


def step(loss=None, samples=None, phases=None, learning_rate=None, epoch=None, at=None):
    """One step of the training has ended.

    loss, learning_rate, epoch: of this step. samples: that this rank has trained with in this step. phases: seconds by name, such
    as {"forward": 0.01}; they are added to those that phase() has measured. What is not given is unknown to dtctl. Give a loss as it
    is: if it is NaN or infinite at the end, dtctl marks the run as diverged. at: time.monotonic() at the end of the step, if it is
    reported later.
    """
    for name in phases or {}:
        _require_phase(name)
    with _lock:
        for name, seconds in (phases or {}).items():
            _quantity(seconds, f"the time of {name}")
            _phase_s[name] = _phase_s.get(name, 0.0) + float(seconds)
        script.ends_step(time.monotonic() if at is None else at, _phase_s, samples, loss, learning_rate, epoch)
        if script.is_exchange_looked_at():
            script.tell_exchange(seen_exchange())
        _phase_s.clear()


def observe_step(batch=None, loss=None):
    """A step of the training has ended: one line for a loop whose phases nobody measures, in JAX for example.

        report.observe_step(images, loss)    # at the end of the loop's body

    batch: what the step has trained with, whose parts must agree on the number of samples (dtctl_measure/samples.py), or the number
    itself. loss: a number, or what float() makes one of; it is read a step later, so that a computation that is under way is not
    waited for. The first step is not measured, and at the end of the program the result is reported.
    """
    global _observed
    with _lock:
        if _observed is None:
            atexit.register(_end_observed_steps, os.getpid())
        else:
            _report_observed()
        _observed = (_count(batch), loss, time.monotonic())


def _count(batch):
    if not is_active():
        return None
    from dtctl_measure import samples  # a copy of this file alone does without it outside of dtctl

    if samples.declared().a_step is not None:
        return samples.declared().a_step
    return batch if isinstance(batch, (int, float)) and not isinstance(batch, bool) else samples.count(batch)


def _report_observed():
    samples, loss, at = _observed
    step(loss=loss, samples=samples, at=at)


def _end_observed_steps(pid):
    if os.getpid() != pid or script.has_failed:
        return
    _report_observed()
    result()


def evaluation(accuracy, loss=None, samples=None):
    """The model was evaluated on the held-out set, since the last step. accuracy: the share of correct answers, 0 to 1."""
    observer = sys.modules.get("dtctl_observe")
    if observer is not None and observer.takes_evaluation(accuracy, loss, samples):
        return
    with _lock:
        now = time.monotonic()
        script.evaluates(now, None if script.mark is None else now - script.mark, accuracy, loss, samples)
        script.mark = now
        _phase_s.clear()


def result(parameters=None):
    """The training has reached its end. parameters: number of trained parameters of the model.

    Raises OSError if the report could not be written, because the disk is full for example.
    """
    with _lock:
        script.tell_exchange(seen_exchange())
        script.result(parameters)


def error(cause):
    """The training has failed on this rank, for this reason. An uncaught exception is reported by itself."""
    with _lock:
        script.error(cause)


# ---- whether this process exchanges anything with other ranks --------------------------------------------------------------------


def seen_exchange():
    """none: nothing in this process can exchange with another rank. some: it does, by torch.distributed or MPI. unknown: it has
    connections or shared memory of which nobody knows what for."""
    if not is_active():
        return "none"
    try:
        dist = sys.modules.get("torch.distributed")
        if dist is not None and dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
            return "some"
        ranks = _mpi_ranks()
        if ranks is not None and ranks > 1:
            return "some"
        is_open = ranks is None or "multiprocessing.shared_memory" in sys.modules or (ranks == 0 and _has_connection())
        return "unknown" if is_open else "none"
    except Exception:  # of a library or of /proc; the training goes on
        return "unknown"


def _mpi_ranks():
    """Ranks of MPI in this process; 0: it was not initialised, None: unknown. Only a library that is loaded already is asked: the
    torch of some distributions links one that it never uses."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        found = re.search(r"/\S*/libmpi[a-z_]*\.so\S*", maps.read())
    if not found:
        return 0
    import ctypes

    library, flag, ranks = ctypes.CDLL(found.group()), ctypes.c_int(0), ctypes.c_int(0)
    if library.MPI_Initialized(ctypes.byref(flag)) != 0 or not flag.value:
        return 0
    if library.MPI_Finalized(ctypes.byref(flag)) != 0 or flag.value:
        return None
    try:
        world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))  # of Open MPI
    except ValueError:
        world = 0x44000000  # of MPICH and its relatives
    return ranks.value if library.MPI_Comm_size(world, ctypes.byref(ranks)) == 0 else None


def _has_connection():
    """Whether this process has a connection that may lead to another rank. Web servers are none."""
    inodes = set()
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/self/fd/{descriptor}")
            if "/dev/infiniband/" in link:
                return True
            if link.startswith("socket:["):
                inodes.add(link[len("socket:[") : -1])
    for kind in ("tcp", "tcp6", "udp", "udp6") if inodes else ():
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/net/{kind}", encoding="ascii") as table:
            for words in map(str.split, table):
                is_listening = words[3] == "0A"
                if words[9] in inodes and not is_listening and int(words[2].rpartition(":")[2], 16) not in (80, 443):
                    return True
    if inodes:
        with open("/proc/self/net/unix", encoding="utf-8", errors="replace") as table:
            return any(len(words) > 7 and words[6] in inodes and words[5] == "03" for words in map(str.split, table))
    return False


def report_exceptions(report):
    """Reports an uncaught exception, before the hook of the script or of Python sees it."""
    hook = sys.excepthook

    def excepthook(kind, value, trace):
        report.fails(value)
        hook(kind, value, trace)

    sys.excepthook = excepthook


if is_active() and __name__ == "dtctl_report":
    report_exceptions(script)
