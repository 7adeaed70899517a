"""Who of a rank's processes and threads reports, what the observer says about itself, and how the process ends."""

import atexit
import functools
import importlib.util
import multiprocessing.process
import multiprocessing.util
import os
import pathlib
import sys
import threading

import dtctl_measure

HERE = os.path.dirname(os.path.abspath(__file__))
_OWN = tuple(folder + os.sep for folder in (HERE, os.path.dirname(os.path.abspath(dtctl_measure.__file__))))


def _load_report():
    """dtctl_report once more, from our own folder: that of the script may be a copy."""
    spec = importlib.util.spec_from_file_location("dtctl_report_of_observer", os.path.join(os.path.dirname(HERE), "dtctl_report.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dtctl_report = _load_report()


class Report(dtctl_report.Report):
    """A report whose lines wait until it is known whether the script reports by itself."""

    held = None  # the lines that wait; None: none does

    def write(self, *words):
        if self.held is not None:
            self.held.append(words)
        else:
            super().write(*words)

    def error(self, cause):
        held, self.held = self.held, None
        super().error(cause)
        self.held = held

    def release(self):
        held, self.held = self.held, None
        for words in held or ():
            self.write(*words)


def guarded(method):
    """An error here, where steps are told apart, ends the observation."""

    @functools.wraps(method)
    def call(self, *args):
        if self.is_off:
            return None
        try:
            return method(self, *args)
        except Exception as error:  # whatever it is, the script must not see it
            return self.fail(error)

    return call


class Process:
    """Of the observer of one process."""

    def __init__(self, torch):
        self.torch = torch
        ranks, attempt, is_traced = (os.environ["DTCTL_OBSERVE"].split() + ["1", "1", "0"])[:3]
        self.ranks = int(ranks)
        self.attempt = int(attempt) + int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))  # that of this process
        self.is_traced = is_traced == "1"
        self.is_forked = False  # a child that has not trained yet
        self.begin_process()
        os.register_at_fork(after_in_child=self._leave_child)
        hook = threading.excepthook

        def excepthook(args):
            self._thread_fails(args)
            hook(args)

        threading.excepthook = excepthook

    def begin_process(self):
        """Of the program's process, or of one that it has forked and that trains."""
        self.pid, self.thread = os.getpid(), threading.get_ident()
        self.report = Report()
        self.is_off = self.is_ended = False
        self.is_inside = False  # of a module's call or a backward pass, whose inner calls do not count
        self.trouble = ""
        self.told, self.broken = set(), set()  # caveats; parts of the observer that have failed
        self.others = set()  # threads that train, too
        self.is_claimed = self.has_begun = False
        self.steps = 0  # that were reported
        atexit.register(self.finish)
        dtctl_report.report_exceptions(self.report)
        hook = sys.excepthook

        def excepthook(kind, value, trace):
            hook(kind, value, _without_own_frames(value, trace))

        sys.excepthook = excepthook

    # ---- which process, which thread ----

    def _leave_child(self):
        """A process that the script forks reports nothing, unless it trains and is no worker of a DataLoader."""
        self.is_off = self.is_inside = self.is_forked = True
        self.report.write = lambda *_: None

    def revives(self):
        """Whether this is a forked process that begins to train now."""
        if not self.is_forked:
            return False
        self.is_forked = False
        if self.torch.utils.data.get_worker_info() is not None:
            return False
        self.begin_process()
        return True

    def is_elsewhere(self, trains=False):
        """Whether this thread is another one than that of the training, which is the first to make a backward pass."""
        if threading.get_ident() == self.thread:
            return False
        if not trains or self.is_off:
            return True
        if self.has_begun:
            self.others.add(threading.get_ident())
            return True
        self.thread, self.is_inside = threading.get_ident(), False
        self.forget()
        return False

    def updates_elsewhere(self):
        """An optimizer has stepped in another thread than that of the training."""
        if threading.get_ident() in self.others:
            self.caveat("processes", "another thread of the program trains too, and only the steps of one are counted: the throughput is not known")

    def yields(self):
        """Whether the script reports its steps by itself, or another process of this rank is observed."""
        script = sys.modules.get("dtctl_report")
        if "dtctl_sync" in sys.modules or _reports_by_itself(script):
            self.report.held = None
            self.be_silent()
        elif not self.is_claimed:
            self.is_claimed = True
            if self.torch.utils.data.get_worker_info() is not None:
                self.be_silent()
                return True
            if multiprocessing.parent_process() is not None:
                # Such a child leaves without atexit if it was forked, and catches its exception itself.
                multiprocessing.util.Finalize(None, self._leaves_child, exitpriority=100)
            if not _claim():
                self.caveat("processes", "several processes of a rank train, and only the steps of one are counted: the throughput is not known",
                            of_all_ranks=False)
                self.be_silent()
                self.report.step = -1  # of an error that this process may still report: its steps are not counted
            elif script is not None:
                self.report.held = []
        return self.is_off

    # ---- what the observer says about itself ----

    def fail(self, error):
        self.trouble = f"{type(error).__name__}: {error} ({_place_of(error)})"
        self.caveat("observation", f"the observer stopped at step {self.steps}, because of an error of its own, and no later step is counted: {self.trouble}",
                    of_all_ranks=False)
        self.be_silent()

    def goes_on_without(self, part, error):
        """A part of the observer has failed; what it finds is unknown from now on."""
        if part not in self.broken:
            self.broken.add(part)
            self.caveat("observation", f"the observer goes on without {part}, because of an error of its own: {type(error).__name__}: {error} "
                        f"({_place_of(error)})", of_all_ranks=False)

    def attempt_to(self, part, call, *args):
        """What the call returns; None if this part of the observer has failed."""
        if part in self.broken:
            return None
        try:
            return call(*args)
        except Exception as error:
            return self.goes_on_without(part, error)

    def be_silent(self):
        self.is_off = self.is_inside = True

    def caveat(self, kind, sentence, of_all_ranks=True):
        """Once, in the log and in the run's record. of_all_ranks: rank 0 tells it for all."""
        if sentence in self.told or (of_all_ranks and os.environ.get("RANK", "0") != "0"):
            return
        self.told.add(sentence)
        try:
            print(f"dtctl: {sentence}.", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass
        self.report.caveat(kind, sentence)

    # ---- the end ----

    def _thread_fails(self, args):
        """An uncaught exception has ended a thread: the training has failed if it trained."""
        ident = args.thread.ident if args.thread is not None else None
        if args.exc_type is not SystemExit and self.has_begun and (ident == self.thread or ident in self.others):
            self.report.fails(args.exc_value)

    def _leaves_child(self):
        error = sys.exc_info()[1]  # on its way out
        if isinstance(error, SystemExit):
            error = None if error.code in (None, 0) else error.__cause__ or error.__context__ or error
        if error is not None and self.pid == os.getpid():
            self.report.fails(error)
        self.finish()

    def finish(self):
        """At the end of the program, after an error too."""
        if os.getpid() != self.pid or self.is_ended or (self.is_off and not self.trouble):
            return
        self.is_ended = True
        try:
            if not self.is_off:
                self.finish_steps()
            if self.is_off and not self.trouble:
                return
            if not self.steps:
                if _is_first_of_rank() and not self.report.has_failed:
                    self.caveat("observation", "the observer saw no step: in this process no optimizer has stepped after a backward pass")
            elif not self.report.has_failed:
                self.finish_report()
            self.report.release()
        except Exception as error:
            self.fail(error)


def _reports_by_itself(script):
    if script is None:
        return False
    own = getattr(script, "script", None)  # a copy of an older dtctl has none
    return own is None or own.step > 0 or own.mark is not None


def _claim():
    """Whether this process is the one of its rank that reports. A launcher may start several."""
    try:
        import fcntl

        claim = os.open(dtctl_report.report_path(), os.O_RDWR | os.O_APPEND)
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends
        with open(claim, "rb", closefd=False) as lines:  # of a process that has trained before; a launcher may start its ranks again
            return bool(os.environ.get("DTCTL_LAUNCHER")) or b"\nstep " not in lines.read()
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _is_first_of_rank():
    """Whether dtctl or the program's launcher has started this process itself, and no process that this one has started was
    observed."""
    lines = pathlib.Path(dtctl_report.report_path()).read_text(errors="replace").splitlines()
    begun = {line.split(" ", 1)[0] for line in lines}
    own = str(os.getppid() if os.environ.get("DTCTL_LAUNCHER") else os.getpid())
    return "step" not in begun and any(line.split()[2:3] == [own] for line in lines if line.startswith("rank "))


def _place_of(error):
    """The line where it was raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"line {frame.tb_lineno} of {os.path.basename(frame.tb_frame.f_code.co_filename)}" if frame else "dtctl_observe"


def _without_own_frames(value, trace, seen=None):
    """The trace of an uncaught exception as it would be without the observer."""
    seen = set() if seen is None else seen
    if value is not None and id(value) not in seen:
        seen.add(id(value))
        for other in (value.__cause__, value.__context__):
            if other is not None:
                other.__traceback__ = _without_own_frames(other, other.__traceback__, seen)
    kept, each = [], trace
    while each is not None:
        if not os.path.abspath(each.tb_frame.f_code.co_filename).startswith(_OWN):
            kept.append(each)
        each = each.tb_next
    for one, after in zip(kept, [*kept[1:], None]):
        one.tb_next = after
    trace = kept[0] if kept else None
    if value is not None:
        value.__traceback__ = trace
    return trace
