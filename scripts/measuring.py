"""What the areas of scripts/measure share: the build, the home, the testbed, rounds in turn, figures and tables."""
import argparse
import json
import os
import pathlib
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("DTCTL_TEST_PYTHON", "/usr/bin/python3")  # has torch
PHASES = ("input", "forward", "backward", "communication", "optimizer")  # in which dtctl_report divides a step
NAME = "measure"  # of the area, for messages


def stop(sentence, code=2):
    print(f"{NAME}: {sentence}", file=sys.stderr)
    sys.exit(code)


def words_of(text):
    """The words of an option's value: sync-sgd,local-sgd or "sync-sgd local-sgd"."""
    return text.replace(",", " ").split()


def numbers_of(text):
    return [int(word) for word in words_of(text)]


def one_of(names):
    """A type of argparse: a word of this list."""
    def word(text):
        if text not in names:
            raise argparse.ArgumentTypeError(f"there is no {text}; there are: {', '.join(names)}")
        return text
    return word


def run(words, **options):
    """What the command prints; when it fails, the script ends with the command, its exit code and both streams."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        stop(f"`{' '.join(words)}` ended with {done.returncode}:\n{done.stdout}{done.stderr}", 1)
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def is_installed(program):
    return program.startswith("dt")


class Place:
    """The programs of a build, and a folder with dtctl's home. PROGRAMS of an area: targets; all but dt… belong to the tests."""

    def __init__(self, programs, asked):
        self.programs, self.build, self.kept = programs, pathlib.Path(asked.build or ROOT / "build/release").resolve(), asked.keep
        self.is_built_here = not (asked.build or getattr(asked, "builds", None))

    def __enter__(self):
        if self.is_built_here and self.programs:
            tests = ["-DDTCTL_TESTS=ON"] if not all(map(is_installed, self.programs)) else []
            run(["cmake", "--preset", "release", *tests], cwd=ROOT)
            run(["cmake", "--build", "--preset", "release", "--target", *self.programs], cwd=ROOT)
        self.folder = pathlib.Path(self.kept or tempfile.mkdtemp(prefix="dtctl-measure-")).resolve()
        self.environment = dict(os.environ)
        self.use_home("home")
        self.environment.update(XDG_CONFIG_HOME=str(self.folder / "config"), DTCTL_CORE_LOCKS=str(self.folder / "cores"),
                                DTCTL_TESTBED=str(self.folder / "testbed"))
        (self.folder / "config/dtctl").mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_):
        if self.kept:
            print(f"kept: {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def use_home(self, name):
        self.home = self.folder / name
        self.environment["DTCTL_HOME"] = str(self.home)

    def program(self, name):
        return self.build / ("bin" if is_installed(name) else "tests") / name

    def run(self, *words, **options):
        """A program of the build, in the folder."""
        return run([self.program(words[0]), *words[1:]], env=options.pop("env", self.environment), cwd=options.pop("cwd", self.folder), **options)

    def json(self, *words, **options):
        return json.loads(self.run(*words, "--json", **options))

    def dtctl(self, *words, **options):
        return self.run("dtctl", *words, **options)

    def rows(self, query):
        return self.json("dtctl", "query", query)["rows"]

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def sweep(self, recipe, *words):
        """Runs all of a recipe's text, to the end."""
        self.dtctl("sweep", self.write("recipe.yaml", recipe), *words, "--wait")


class Testbed:
    """Hosts with shaped links on this machine (tests/cluster/testbed; needs root), until the block ends."""
    command = ROOT / "tests/cluster/testbed"

    def __init__(self, place, hosts, rate, *words):
        self.place, self.words = place, ["--hosts", hosts, "--rate", rate, *words]

    def __enter__(self):
        self("check")
        self("up", *self.words, "--owner", os.getpid())
        (self.place.folder / "config/dtctl/config.yaml").write_text(self("profile"))  # as the profile testbed
        return self

    def __exit__(self, *_):
        self("down")

    def __call__(self, *words):
        return run([self.command, *words], env=self.place.environment)

    def run(self, ranks, program, *words):
        return self("run", ranks, self.place.program(program), *words)


def mpirun(ranks, *words):
    return ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *words, "-np", str(ranks)]


# ---- times and figures ----

def steps_of(report):
    """The steps in a report of dtctl_report: seconds, samples, loss, and seconds of each phase; None for what is unknown."""
    number = lambda word: None if word == "-" else float(word)
    lines = [line.split() for line in pathlib.Path(report).read_text().splitlines()]
    return [dict(zip(("step_s", "samples", "loss", *PHASES), map(number, (*w[3:6], *w[8:13])))) for w in lines if w[0] == "step"]


def seconds_of(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def median_s(times, function):
    return statistics.median(seconds_of(function) for _ in range(times))


def in_turn(rounds, ways, warm_up=0):
    """What each of the functions {name: function} gives: round after round all in turn, so that a drift of the machine meets all alike."""
    found = {name: [] for name in ways}
    for number in range(-warm_up, rounds):
        for name, function in ways.items():
            value = function()
            if number >= 0:
                found[name].append(value)
    return found


def ratios(first, second):
    """Of each round."""
    return [a / b for a, b in zip(first, second)]


def spread(values, form=".2f"):
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def interval(values, form=".2f"):
    return f"{statistics.median(values):{form}} [{min(values):{form}}, {max(values):{form}}]"


# ---- tables ----

def load():
    return " ".join(f"{each:.1f}" for each in os.getloadavg())


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def print_head(*more):
    """When, on which machine, at which commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or "unknown"
    said = [time.strftime("%F %H:%M", time.gmtime()), processor(), f"{len(os.sched_getaffinity(0))} cores in the mask", platform.release(),
            f"load {load()}", f"commit {commit}", *more]
    print(f"Date {'; '.join(said)}\n", flush=True)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def columns(*names):
    row(*names)
    print("|" + "---|" * len(names), flush=True)
