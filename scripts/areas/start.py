"""Time from the start of mpirun to the end of the first step, and what it is spent on.

The phases are those that rank 0 of each run tells ("first step after ..." in the attempt's stdout). About two minutes.

  scripts/measure start                         all cases, 7 runs of each
  scripts/measure start lenet resnet50-2        some of lenet, resnet50 (1 rank, 2 threads), resnet50-2 (2 ranks, 1 thread)
  scripts/measure start --builds OLD,NEW        the programs in these build folders, in turn in each round; builds nothing
"""
import pathlib
import re
import statistics
import sys

from measuring import columns, in_turn, one_of, row, spread, stop, words_of

PROGRAMS = ["dtctl", "dtjob", "dtengine"]
LENET = {"model.name": "lenet", "train.global_batch": 128, "train.steps": 2, "resources.ranks_per_node": 2}
RESNET = {"model.name": "resnet50", "data.channels": 3, "data.height": 224, "data.width": 224, "data.classes": 1000,
          "data.train_samples": 1024, "data.test_samples": 16, "train.global_batch": 16, "train.steps": 1}
CASES = {"lenet": LENET, "resnet50": {**RESNET, "resources.ranks_per_node": 1, "resources.threads_per_rank": 2},
         "resnet50-2": {**RESNET, "resources.ranks_per_node": 2}}
RECIPE = """version: 1
name: start
model: { name: lenet }
data: { name: synthetic }
train: { warmup_steps: 0, eval_every_epochs: 0 }
resources: { time_limit: 10m }
"""


def options(parser):
    parser.add_argument("cases", nargs="*", metavar="CASE", type=one_of(CASES), help=", ".join(CASES))
    parser.add_argument("--builds", type=words_of)
    parser.add_argument("--repeats", type=int, default=7, help="runs of each case and build (%(default)s)")


class Starts:
    """First steps of one case by the programs of one build."""

    def __init__(self, place, build, case):
        self.place, self.build, self.seed = place, pathlib.Path(build).resolve(), 0
        self.keys = [f"{key}={value}" for key, value in CASES[case].items()]
        self.home = f"home-{case}-{str(self.build).replace('/', '-')}"

    def __call__(self):
        """Seconds from the launch to the end of the first step, and of each phase by name. The seed makes it a new run."""
        self.seed += 1
        self.place.build = self.build
        self.place.use_home(self.home)
        words = [word for key in [*self.keys, f"train.seed={self.seed}"] for word in ("--set", key)]
        self.place.dtctl("submit", self.place.write("start.yaml", RECIPE), "--wait", *words)
        output = max(self.place.home.glob("runs/*/attempts/1/stdout"), key=lambda file: file.stat().st_mtime_ns)
        told = re.search(r"^first step after ([0-9.]+) s: (.*)$", output.read_text(), re.MULTILINE)
        if told is None:
            stop(f"{output} does not tell when the first step ended", 1)
        phases = (part.rsplit(" ", 1) for part in told[2].split(", "))
        return float(told[1]), {name: float(seconds) for name, seconds in phases}


def measure(asked, place):
    builds, results = asked.builds or [str(place.build)], {}
    for case in asked.cases or CASES:
        results[case] = in_turn(asked.repeats, {build: Starts(place, build, case) for build in builds}, warm_up=1)  # which fills the caches
        print(f"{case}: {asked.repeats} runs a build", file=sys.stderr)
    print(f"Seconds from mpirun to the end of the first step, median (least to most) of {asked.repeats} runs in turn\n")
    columns("case", *builds)
    for case, found in results.items():
        row(case, *(spread([seconds for seconds, _ in runs]) for runs in found.values()))
    for case, found in results.items():
        names = list(dict.fromkeys(name for runs in found.values() for _, phases in runs for name in phases))
        print(f"\n{case}: median ms of each phase\n")
        columns("build", *names)
        for build, runs in found.items():
            row(build, *(f"{1e3 * statistics.median(phases.get(name, 0) for _, phases in runs):.0f}" for name in names))
