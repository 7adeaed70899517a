"""Waiting for other ranks: what a rank says when it has waited long, and how it finds out that it waits in vain.

A rank notes on a board that all ranks can read, a TCPStore of torch on rank 0, which marks it has passed: the begin of an epoch, an
evaluation, the end of its training. All ranks pass the same marks in the same order, each after the same number of steps. A rank that waits in a
step behind the next mark of another rank would wait for ever, and ends the training.
"""

import datetime
import socket
import sys
import threading
import time

import torch

import dtctl_report

from . import library
from .library import SyncError

LOOK_S = 0.25
ENDS = "has ended its training"
LASTING_MARKS = 1000  # older ones are deleted
REMEDY = ("all ranks must make equally many steps, so a rank cannot leave its loop, leave a batch out, catch an error or make an epoch or an "
          "evaluation alone")
REMEDY_WITH_SERVER = "; a loop that ends early beside a parameter server says so: batches(loader, steps=100)"


class ServerEnds(SystemExit):
    """Ends the script of a server without an error."""


def _open_board(rank, share_text):
    """None: this rank does not reach it, and the others do without this rank's marks."""
    if library.store() is not None:
        return library.store()
    timeout, board = datetime.timedelta(seconds=20), None
    own = socket.gethostname()
    try:
        if rank == 0:
            board = torch.distributed.TCPStore("127.0.0.1", 0, None, True, timeout, wait_for_workers=False)
        host, _, port = share_text(f"{own} {board.port}" if board else "").partition(" ")
        if port and board is None:
            board = torch.distributed.TCPStore("127.0.0.1" if host == own else host, int(port), None, False, timeout, wait_for_workers=False)
    except Exception as error:  # no torch.distributed, or a firewall
        print(f"dtctl_sync: rank {rank} cannot tell the other ranks where it is ({error}); a rank that leaves early is found after "
              "train.stall_after only", file=sys.stderr, flush=True)
        if rank == 0:
            share_text("")
    return board


class Board:
    """The marks of this rank and of the others."""

    _shared = None  # the store of this process
    _opened = 0

    def __init__(self, rank, ranks, has_servers, share_text):
        self.rank, self.has_servers = rank, has_servers
        self.passed = 0
        if ranks > 1 and not Board._opened:
            Board._shared = _open_board(rank, share_text)
        Board._opened += 1
        self._name, self._lock = f"training {Board._opened}", threading.Lock()

    def store(self):
        """For what else the ranks of this training tell each other; None: there is none."""
        return torch.distributed.PrefixStore(self._name, Board._shared) if Board._shared is not None else None

    def _key(self, number):
        return f"{self._name} mark {number}"

    def passes(self, what, step):
        """This rank has passed a mark after this many steps. Raises SyncError if another rank was elsewhere. Does not wait."""
        if Board._shared is None:
            return
        with self._lock:
            number, self.passed = self.passed, self.passed + 1
            first = Board._shared.compare_set(self._key(number), "", f"{self.rank}\n{step}\n{what}").decode()
            if self.rank == 0 and number >= LASTING_MARKS:
                Board._shared.delete_key(self._key(number - LASTING_MARKS))
        other, other_step, other_what = first.split("\n")
        if (int(other_step), other_what) != (step, what):
            raise SyncError(self._words((int(other), int(other_step), other_what), f"{what} after step {step}"))

    def awaits_end(self):
        """For a server, which begins nothing by itself: waits until another rank has passed the next mark. Whether that has ended its
        training: the others follow, or find that they cannot."""
        while Board._shared is not None:
            found = self._next_mark()
            if found:
                return found[2] == ENDS
            time.sleep(0.002)
        return False

    def why_in_vain(self, step):
        """Why this rank waits in vain in this step; empty if it does not, as far as is known."""
        if Board._shared is None:
            return ""
        found = self._next_mark()
        return self._words(found, f"is in step {step}") if found and found[1] < step else ""

    def _next_mark(self):
        """Rank, step and word of the rank that has passed the next mark first; None: nobody has. Does not wait."""
        with self._lock:
            found = Board._shared.compare_set(self._key(self.passed), "none", "none").decode()
        if found == "none":
            return None
        rank, step, what = found.split("\n")
        return int(rank), int(step), what

    def _words(self, other, own):
        rank, step, what = other
        return (f"rank {rank} {what} after step {step}, but rank {self.rank} {own}: {REMEDY}" + (REMEDY_WITH_SERVER if self.has_servers else ""))

    def is_first_to_tell(self):
        try:
            return Board._shared is None or Board._shared.add(self._name + " told", 1) == 1
        except RuntimeError:
            return True


class Wait:
    """Watches how long this rank has waited for the others: after `limit_s` it says so, after ten times that, or when it waits in vain, it ends
    all ranks. limit_s 0: only the latter."""

    def __init__(self, rank, limit_s, board):
        self.rank, self.limit_s, self.board, self.since, self.step = rank, limit_s, board, None, 0
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, step):
        self.step, self.since = step, time.monotonic()

    def end(self):
        self.since = None

    def _watch(self):
        told = None
        while True:
            time.sleep(LOOK_S)
            since, step = self.since, self.step
            waited = 0 if since is None else time.monotonic() - since
            if waited > 2 * LOOK_S:
                self._look(since, step)
            if 0 < self.limit_s < waited and told != since:
                told = since
                self._say(f"has waited {waited:.0f} s for the other ranks in step {step}: one of them is slow, hangs, or makes fewer steps")
            if 0 < 10 * self.limit_s < waited:
                self._say(f"has waited {waited:.0f} s (10 times train.stall_after) in step {step} and ends the training")
                dtctl_report.error(f"waited {waited:.0f} s for the other ranks in step {step}")
                library.library.dtctl_sync_abort()

    def _look(self, since, step):
        try:
            why = self.board.why_in_vain(step)
        except RuntimeError:  # the board is gone with rank 0
            return
        if why and self.since == since:
            self.end_all(why)

    def end_all(self, why):
        """Ends all ranks with this cause. Does not return."""
        if self.board.is_first_to_tell():
            self._say("ends the training: " + why)
            dtctl_report.error(why)
        else:
            time.sleep(5)  # for the rank that tells
        library.library.dtctl_sync_abort()

    def _say(self, text):
        print(f"dtctl_sync: rank {self.rank} {text}", file=sys.stderr, flush=True)
