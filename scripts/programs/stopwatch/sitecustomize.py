"""A stop-watch on the lines of a program that nobody changed. It wraps nothing of torch: it is a trace function of Python.

The file that VALIDATE_WATCH names says which lines of which functions begin what. At each of them the time is noted, and the loss and
the samples are read from the program's own variables. What was noted is written when the process ends.
"""

import atexit
import json
import os
import sys
import time


class _Watch:
    def __init__(self, path):
        with open(path) as file:
            self.asked = json.load(file)
        self.out = f"{self.asked['out']}/{os.environ.get('RANK', '0')}-{os.getpid()}.json"
        self.pid, self.notes, self.lines, self.others = os.getpid(), [], {}, set()
        self.counts = None  # the operations of one step, by hand
        self.updates = self.steps = 0

    def look(self, frame, event, _):
        """For each new frame: is it one of the functions that are watched?"""
        code = frame.f_code
        if code in self.others:
            return None
        marks = self.lines.get(code)
        if marks is None:
            marks = self.marks_of(code)
            if not marks:
                self.others.add(code)
                return None
            self.lines[code] = marks
        frame.f_trace_lines = True
        return self.at_line

    def marks_of(self, code):
        functions = next((each for file, each in self.asked["marks"].items() if code.co_filename.endswith("/" + file)), None)
        asked = (functions or {}).get(code.co_qualname)
        if not asked:
            return None
        with open(code.co_filename) as file:
            lines = file.read().splitlines()
        own = {line for _, _, line in code.co_lines() if line}
        found = {}
        for words in asked:
            if words[0] == "return":
                found["return"] = words[1:]
                continue
            places = [line for line in own if lines[line - 1].strip().startswith(words[0])]
            if not places:
                raise SystemExit(f"stop-watch: {code.co_filename} has no line {words[0]!r} in {code.co_name}")
            found.update((line, words[1:]) for line in places)
        return found

    def at_line(self, frame, event, _):
        if event == "line":
            mark = self.lines[frame.f_code].get(frame.f_lineno)
            if mark is not None:
                self.note(time.monotonic(), frame, *mark)
        elif event == "return":
            self.note(time.monotonic(), frame, *self.lines[frame.f_code].get("return", ("other",)))
        return self.at_line

    def note(self, now, frame, phase, loss=None, samples=None):
        # What a line has computed is there when the next line begins, so expressions are those of the line at which a phase begins.
        evaluate = lambda text: None if text is None else eval(text, frame.f_globals, frame.f_locals)
        loss, samples = evaluate(loss), evaluate(samples)
        if loss is not None:
            loss = float(loss)
        self.notes.append((now, phase, loss, samples))
        if self.asked.get("operations"):
            self.count(phase)

    def count(self, phase):
        """The operations of the fourth step: all between the third and the fourth update that close a step, without evaluations."""
        if phase.startswith("!") and any(note[1] == "update" for note in self.notes[self.updates :]):
            self.updates = len(self.notes)
            self.steps += 1
            if self.steps == 3:
                from operations import Operations

                self.counts = Operations()
                self.counts.__enter__()
            elif self.steps == 4:
                self.counts.__exit__(None, None, None)
        if self.counts is not None:
            self.counts.is_paused = phase.endswith("evaluation")

    def write(self):
        sys.settrace(None)
        if os.getpid() != self.pid or not self.notes:
            return
        with open(self.out, "w") as file:
            json.dump({"notes": self.notes, "operations": self.counts and self.counts.total}, file)

    def leave(self):
        sys.settrace(None)
        self.notes = []


if os.environ.get("VALIDATE_WATCH"):
    _watch = _Watch(os.environ["VALIDATE_WATCH"])
    atexit.register(_watch.write)
    os.register_at_fork(after_in_child=_watch.leave)
    sys.settrace(_watch.look)
