"""Public training programs, unchanged, under dtctl and beside it plain, with a stop-watch and a count of its own.

  scripts/measure programs --clones DIR [--only mnist,vae]
  scripts/measure programs --clones DIR --strategies

The folder DIR has a clone of each repository, named after it; --list prints which, and what is run. Only the program's folder at its commit is
taken (git archive). The data are made here (scripts/programs/data.py), and the programs stay as they are: arguments, data and environment are
chosen. The stop-watch (scripts/programs/stopwatch) is a trace function of Python that looks at lines of the program, in the very process that
dtctl observes, so both time the same steps; the count of operations is another, of a plain run. Prints a table in Markdown; --keep FOLDER leaves
what the programs wrote. Half an hour. Needs python3-torch, python3-torchvision, python3-matplotlib.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from measuring import PYTHON, ROOT, columns, free_port, row, run, stop, words_of
from programs import table

PROGRAMS = ["dtctl", "dtjob", "dtctl_sync"]
HERE = ROOT / "scripts/programs"
LIMIT_S, WARMUP = 300, 2
KEPT = ("PYTHONPATH", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "VALIDATE_WATCH")


def clones():
    return "\n".join(f"git clone https://github.com/{clone[0]}    # {clone[1]}: {', '.join(each.name for each in table.PROGRAMS if each.clone == clone)}"
                     for clone in dict.fromkeys(each.clone for each in table.PROGRAMS))


def options(parser):
    parser.add_argument("--clones", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--only", type=words_of, default=[each.name for each in table.PROGRAMS], metavar="NAMES")
    parser.add_argument("--list", action="version", version=clones(), help="prints the repositories and their commits")
    parser.add_argument("--strategies", action="store_true", help="the programs with the lines of dtctl_sync instead")


class Copy:
    """The folder of a program: what its repository has there, its data, what it runs with."""

    def __init__(self, program, asked, place, under):
        self.program, self.home, self.environment = program, place.folder / under / program.name, place.environment
        shutil.rmtree(self.home, ignore_errors=True)
        self.tree = self.home / "tree"
        self.tree.mkdir(parents=True)
        repository, commit = program.clone
        git = ["git", "-C", asked.clones / repository.split("/")[1]]
        files = run([*git, "ls-tree", "-r", "--name-only", commit, *([] if program.folder == "." else [program.folder, *program.taken])]).splitlines()
        run([*git, "archive", "-o", self.home / "tree.tar", commit, *(each for each in files if each.endswith((".py", ".json", ".gitignore")))])
        run(["tar", "-x", "-C", self.tree, "-f", self.home / "tree.tar"])
        for make in program.data:
            make(self.tree / program.folder)

    def modules(self, home, *more):
        """The environment of the program, whose repository lies in the folder."""
        own = [os.path.relpath(home / self.program.path, home / self.program.folder)] if self.program.path else []
        return dict(self.environment, PYTHONPATH=":".join(map(str, [*more, HERE / "stubs", *own])), OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")

    def watched(self, out, operations, home):
        """The same with the stop-watch."""
        out.mkdir()
        out.with_suffix(".json").write_text(json.dumps({"out": str(out), "operations": operations, "marks": self.program.marks}))
        return dict(self.modules(home, HERE / "stopwatch"), VALIDATE_WATCH=str(out.with_suffix(".json")))

    def plain(self, words=(), is_watched=False):
        """What the program prints without dtctl, in a copy of its tree; of several ranks the first one."""
        copy, ranks = self.home / "plain", self.program.ranks
        shutil.copytree(self.tree, copy)
        environment = self.watched(self.home / "plain-watch", True, copy) if is_watched else self.modules(copy)
        if ranks > 1:
            environment.update(WORLD_SIZE=str(ranks), MASTER_ADDR="localhost", MASTER_PORT=str(free_port()))
        logs = [self.home / f"plain-{rank}.log" for rank in range(ranks)]
        processes = [subprocess.Popen([PYTHON, *self.program.words, *words], cwd=copy / self.program.folder, stdout=log.open("w"), stderr=subprocess.STDOUT,
                                      env=dict(environment, RANK=str(rank)) if ranks > 1 else environment) for rank, log in enumerate(logs)]
        codes, said = [process.wait(LIMIT_S) for process in processes], logs[0].read_text()
        return said if not any(codes) else stop(f"{self.program.name} fails without dtctl, too (exit codes {codes}):\n{said[-2000:]}", 1)

    def submit(self, place, folder, name, environment, words, prefix=(), resources=(), **more):
        """Runs the program in a copy of its tree under dtctl. What dtctl says, and the row of the newest run."""
        command = ["env", *prefix, "-C", f"tree/{self.program.folder}", PYTHON, *words]
        resources = {"ranks_per_node": self.program.ranks, "time_limit": f"{LIMIT_S}s", "oversubscribe": True, "launch_tries": 1, **dict(resources),
                     "env": {each: environment[each] for each in KEPT if each in environment}}
        program = {"command": command, "files": ["tree"], **more.pop("program", {})}
        (folder / "recipe.yaml").write_text(json.dumps({"version": 1, "name": name, "program": program, "train": {"warmup_steps": WARMUP},
                                                        "resources": resources, **more}))
        said = subprocess.run([place.program("dtctl"), "submit", "recipe.yaml", "--wait"], env=place.environment, cwd=folder, capture_output=True, text=True)
        return said.stdout, place.rows(f"SELECT * FROM runs_flat WHERE study = '{name}' ORDER BY submitted_unix_s DESC LIMIT 1")


class Observed:
    """What dtctl recorded of one run, and what the stop-watch noted in the same processes."""

    def __init__(self, copy, place):
        program = copy.program
        environment = copy.watched(copy.home / "watch", False, pathlib.Path("tree"))
        _, rows = copy.submit(place, copy.home, program.name.lower().replace("_", "-"), environment, program.words, program.env, program={"observe": "pytorch"})
        self.run = rows[0]
        self.steps, self.evaluations = (
            place.rows(f"SELECT t.* FROM {name} t JOIN runs r ON t.run_id = r.id WHERE r.key = '{self.run['key']}' ORDER BY step") for name in ("steps", "evals"))
        self.facts, self.caveats = (json.loads(self.run.get(name) or "{}") for name in ("facts", "caveats"))
        self.watched = Watched(copy.home / "watch") if list((copy.home / "watch").glob("*.json")) else None

    def words(self):
        """The state, if the run has not succeeded, and what limits the measurement."""
        said = [] if self.run["state"] == "succeeded" else [f"**{self.run['state']}**: {self.run['cause']}"]
        why = self.facts.get("FLOPs of a sample", "")
        return ". ".join([*said, *self.caveats.values(), *([f"FLOPs {why}"] if why.startswith("not known") else [])])


class Strategy:
    """A program with the lines of dtctl_sync under one strategy, or plain."""

    def __init__(self, edited, asked, place):
        self.edited, self.place = edited, place
        self.program = next(each for each in table.PROGRAMS if each.name == edited.name)
        self.copy = Copy(self.program, asked, place, "strategies")

    def figure(self, text):
        found = re.findall(self.edited.figure, text)
        if not found:
            return None
        return float(found[-1][0]) / float(found[-1][1]) if isinstance(found[-1], tuple) else float(found[-1])

    def under(self, name):
        """The state of the run, its figure, and what dtctl said of a failure."""
        home = self.copy.home / name
        shutil.copytree(self.copy.tree, home / "tree")
        for file, before, after in self.edited.edits:
            file = home / "tree" / (self.program.path or self.program.folder) / file
            if before not in file.read_text():
                stop(f"{self.program.name}: {file} has no {before!r}", 1)
            file.write_text(file.read_text().replace(before, after))
        settings, words = table.SETTINGS[name], self.program.words + self.edited.halved + self.edited.words
        if name in table.SERVERS_UPDATE and self.edited.servers_rate:
            words = [*words, "--lr", str(self.edited.servers_rate * (0.1 if name == "async-msgd" else 1))]  # a momentum of 0.9 is ten times the rate
        said, rows = self.copy.submit(
            self.place, home, f"{self.program.name}-{name}".lower().replace("_", "-"), self.copy.modules(pathlib.Path("tree")), words,
            resources={"ranks_per_node": 3 if "servers" in settings else 2}, sync={"strategy": name, **settings},
            optimizer={"name": "momentum" if name == "async-msgd" else "sgd"})
        if not rows:
            return {"state": "refused", "figure": None, "cause": said}
        log = subprocess.run([self.place.program("dtctl"), "logs", rows[0]["key"]], env=self.place.environment, capture_output=True, text=True).stdout
        return {**{each: rows[0][each] for each in ("key", "state", "cause", "steps", "throughput")}, "figure": self.figure(log)}


class Watched:
    """What a stop-watch has noted: the steps of each process."""

    def __init__(self, folder):
        self.processes = [Course(json.loads(file.read_text())) for file in sorted(folder.glob("*.json"))]
        if not self.processes:
            stop(f"the stop-watch in {folder} has noted nothing", 1)

    def require(self, program):
        """What the arguments and the data come to, so that the stop-watch itself is right."""
        steps = [step for each in self.processes for step in each.steps]
        found = (len(steps) // program.ranks, sum(step["samples"] for step in steps))
        for what, is_now, should_be in zip(("steps", "samples"), found, (program.steps, program.samples)):
            if should_be is not None and is_now != should_be:
                stop(f"{program.name}: the stop-watch saw {is_now} {what}, but there are {should_be}", 1)


class Course:
    """Of one process: what was noted becomes steps. A step lasts from the last update of the one before to its own last update."""

    def __init__(self, noted):
        self.operations = noted["operations"]
        self.steps, self.evaluations = [], 0
        step, passed, has_trained = None, {}, False
        for (now, phase, loss, samples), after in zip(noted["notes"], [*noted["notes"][1:], None]):
            if phase.startswith("!"):
                if step is None or not step["updates"]:
                    passed = passed if self.steps else {}  # what was before the first step
                else:
                    self.steps.append(step)
                step = {"losses": [], "updates": [], "samples": 0, "phases": {}}
            phase = phase.lstrip("!")
            has_trained = has_trained or phase == "update"
            if phase == "evaluation" and has_trained:
                self.evaluations, has_trained = self.evaluations + 1, False  # those before the first step, and one behind another, are none
            if step is None or after is None:
                continue
            if loss is not None:
                step["losses"].append(loss)
            step["samples"] += samples or 0
            passed[phase] = passed.get(phase, 0) + after[0] - now
            if phase == "update":
                for name, length in passed.items():
                    step["phases"][name] = step["phases"].get(name, 0) + length
                passed = {}
                if step["losses"] or not step["updates"]:
                    step["updates"].append(step["losses"])
                step["losses"] = []
        if step is not None and step["updates"]:
            self.steps.append(step)

    def operations_a_sample(self):
        """Of the fourth step."""
        return self.operations / self.steps[3]["samples"] if self.operations and len(self.steps) > 3 and self.steps[3]["samples"] else None


# Phases of dtctl, and of the stop-watch. Communication is a part of the backward pass for who stands beside.
PHASES = {"input": (["input"], ["input"]), "forward": (["forward"], ["forward"]), "backward": (["backward", "communication"], ["backward"]),
          "update": (["optimizer"], ["clear", "update"])}
COLUMNS = ["program", "steps", "samples", "losses", "evaluations", "step", *PHASES, "FLOPs of a sample"]


def beside(own, by_hand):
    """One figure where both agree, else both."""
    say = lambda figure: "-" if figure is None else f"{figure:,.0f}"
    return say(own) if own == by_hand else f"{say(own)}; {say(by_hand)}"


def loss_of(step, program):
    """As dtctl has it: the losses since the update before, or that of the closure's last call."""
    losses = step["updates"][-1]
    return sum(losses[-1:] if program.is_closure else losses)


def cells_of(program, plain, observed):
    """The cells of a program."""
    run, steps, processes = observed.run, observed.steps, (observed.watched or plain).processes
    agreeing = lambda each: sum(own["loss"] == loss_of(by_hand, program) for own, by_hand in zip(steps, each.steps))
    first = max(processes, key=agreeing)  # the process that dtctl observes, of several
    samples = sum(step["samples"] for each in processes for step in each.steps[WARMUP:])
    cells = {"program": f"{program.name}: {program.kind}", "steps": beside(len(steps), len(first.steps)), "samples": beside(run["measured_samples"], samples),
             "evaluations": beside(len(observed.evaluations), first.evaluations),
             "FLOPs of a sample": beside(run["flops_per_sample"], plain.processes[0].operations_a_sample())}
    if steps and len(steps) == len(first.steps):
        cells["losses"] = "equal" if agreeing(first) == len(steps) else f"{agreeing(first)} of {len(steps)} equal"
        cells.update(lengths(list(zip(steps, first.steps))[WARMUP:]))
    return cells


def lengths(pairs):
    """Means of steps and their phases in milliseconds: dtctl's; the stop-watch's."""
    def cell(own, by_hand):
        own = [own(step) for step, _ in pairs]
        return "-" if None in own else " ; ".join(f"{1e3 * sum(each) / len(pairs):.1f}" for each in (own, [by_hand(step) for _, step in pairs])).replace(" ;", ";")

    def of_phase(names):
        return lambda step: None if step[names[0] + "_s"] is None else sum(step[name + "_s"] or 0 for name in names)

    cells = {"step": cell(lambda step: step["step_s"], lambda step: sum(length for name, length in step["phases"].items() if name != "evaluation"))}
    for phase, (names, by_hand) in PHASES.items():
        cells[phase] = cell(of_phase(names), lambda step: sum(step["phases"].get(name, 0) for name in by_hand))
    return cells


def with_strategies(asked, place):
    registered = [each["name"] for each in place.json("dtctl", "recipe", "strategies")["strategies"]]
    if set(registered) != set(table.SETTINGS):
        stop(f"the registry has other strategies than scripts/programs/table.py: {set(registered) ^ set(table.SETTINGS)}", 1)
    chosen = [each for each in table.WITH_STRATEGIES if each.name in asked.only]
    found = {}
    for edited in chosen:
        strategy = Strategy(edited, asked, place)
        found["plain", edited.name] = f"{strategy.figure(strategy.copy.plain(edited.words)):.4g}"
        for name in registered:
            done = strategy.under(name)
            is_good = done["state"] == "succeeded" and done["figure"] is not None
            found[name, edited.name] = f"{done['figure']:.4g}" if is_good else f"**{done['state']}**"
            print(f"{edited.name} {name}: {done}", file=sys.stderr, flush=True)
    columns("", *(each.name for each in chosen))
    for name in ("plain", *registered):
        row(name, *(found[name, each.name] for each in chosen))


def measure(asked, place):
    if not asked.clones:
        stop("--clones DIR: a folder with clones of the repositories that --list prints")
    if asked.strategies:
        return with_strategies(asked, place)
    columns(*COLUMNS)
    said, has_failed = [], False
    for program in (each for each in table.PROGRAMS if each.name in asked.only):
        try:
            copy = Copy(program, asked, place, "programs")
            copy.plain(is_watched=True)
            plain = Watched(copy.home / "plain-watch")
            plain.require(program)
            observed = Observed(copy, place)
            cells = cells_of(program, plain, observed)
            row(*(cells.get(column, "-") for column in COLUMNS))
            said += [f"- {program.name}: {words}" for words in (program.note, observed.words()) if words]
        except (SystemExit, subprocess.TimeoutExpired) as error:  # the next program does not depend on this one
            has_failed = True
            print(f"{program.name}: {error}", file=sys.stderr, flush=True)
    print("", *said, sep="\n")
    return has_failed
