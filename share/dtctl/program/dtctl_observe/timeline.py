"""The timeline of an observed program's rank: the file trace/rank-R of its attempt (core/record/attempt/trace_record.hpp)."""

import pathlib
import socket
import time

MOST_SPANS = 200_000
CLOCK_ERROR_S = 0.001  # the clocks of hosts are taken to agree so well


class Timeline:
    def __init__(self, report):
        """report: the path of the rank's report."""
        report = pathlib.Path(report)
        self.path = report.parent.parent / "trace" / report.name
        self.unix_of_zero_s = time.time() - time.monotonic()
        self.names, self.spans, self.forgotten = {}, [], 0

    def add(self, name, track, begin_s, end_s, step, bytes_=-1):
        """Seconds of time.monotonic()."""
        if len(self.spans) >= MOST_SPANS:
            self.forgotten += 1
            return
        name, track = (self.names.setdefault(each, len(self.names)) for each in (name, track))
        self.spans.append((name, track, begin_s, max(0.0, end_s - begin_s), step, bytes_))

    def write(self):
        """At the end of the program."""
        if not self.spans:
            return
        zero_s = min(span[2] for span in self.spans)
        clock = [f"clock {zero_s + self.unix_of_zero_s + after_s!r} 0 {CLOCK_ERROR_S}" for after_s in (0, time.monotonic() - zero_s)]
        rank = self.path.name.rpartition("-")[2]
        lines = ["dtctl trace 1", f"rank {rank} worker {socket.gethostname()}", *clock, f"forgotten {self.forgotten}"]
        lines += [f"name {name}" for name in self.names]
        lines += ["%d %d %d %d %d %d -1 -1" % (name, track, round((begin_s - zero_s) * 1e9), round(length_s * 1e9), step, bytes_)
                  for name, track, begin_s, length_s, step, bytes_ in self.spans]
        self.path.parent.mkdir(exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        unfinished.write_text("\n".join(lines) + "\n")
        unfinished.rename(self.path)
