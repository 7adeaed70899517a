"""The engine's training step beside PyTorch's, and two ranks beside one.

The two of a row run in turn, never at the same time, round after round; a figure is the median of the rounds, a ratio the median of the rounds'
ratios, with its least and its most. Both have the same threads, one core each.

PyTorch runs in the best setting that a search finds for the row: OpenBLAS' kernels (OPENBLAS_CORETYPE, chosen by the rate of matrix products),
memory layout (plain, channels-last), allocator (plain; tuned: freed memory is kept, in huge pages), places of threads, threads of OpenBLAS,
torch.compile where it has that.
What the environment presets is one candidate. The table names the setting and the rate of matrix products (sgemm) in it, beside that of our
own. Where PyTorch's is below a third of ours nothing is compared (exit 2): its BLAS would be measured, not PyTorch.

All rows take about 20 minutes on two cores, --quick (one round of few steps) some. PyTorch: apt-get install --no-install-recommends
python3-torch libopenblas0-pthread
"""
import dataclasses
import json
import os
import statistics
import subprocess
import sys

from measuring import PYTHON, ROOT, columns, in_turn, interval, mpirun, numbers_of, print_head, ratios, row, stop, words_of

PROGRAMS = ["dtbench"]
KEPT_BYTES = str(16 << 30)
CORE_TYPES = ["", "Cooperlake", "SkylakeX", "Haswell", "Zen"]
CHOSEN_HERE = ("OPENBLAS_", "MALLOC_", "GLIBC_TUNABLES", "GOTO_NUM_THREADS", "OMP_")  # variables that the search sets or removes


@dataclasses.dataclass(frozen=True)
class Setting:
    """What PyTorch may be given beside the model: the choices of the search."""
    core_type: str = ""  # OpenBLAS' kernels; empty: its own choice
    l2_size: str = ""  # OPENBLAS_L2_SIZE, only as the environment presets it
    channels_last: bool = False
    tuned_allocator: bool = False
    bound: bool = True  # each thread to its core
    blas_threads: int = 0  # 0: as many as threads
    compiled: bool = False

    def label(self):
        parts = [self.core_type or "OpenBLAS' own choice", "channels-last" if self.channels_last else "plain layout",
                 "tuned allocator" if self.tuned_allocator else "plain allocator"]
        parts += [f"L2 {self.l2_size}"] * bool(self.l2_size) + ["unbound"] * (not self.bound)
        return ", ".join(parts + [f"{self.blas_threads} BLAS thread"] * (self.blas_threads > 0) + ["compiled"] * self.compiled)

    def environment(self, threads):
        found = {"OPENBLAS_NUM_THREADS": str(self.blas_threads or threads), "OPENBLAS_CORETYPE": self.core_type, "OPENBLAS_L2_SIZE": self.l2_size}
        if self.tuned_allocator:
            found |= {"MALLOC_MMAP_THRESHOLD_": KEPT_BYTES, "MALLOC_TRIM_THRESHOLD_": KEPT_BYTES, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
        return {name: value for name, value in found.items() if value}


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A program's step: ours, or PyTorch's."""
    program: str
    model: str
    batch: int
    threads: int = 1
    ranks: int = 1
    precision: str = "fp32"
    timed: bool = False  # ours with the algorithms that are fastest by timing, as trainings have them; else those of the rules
    setting: Setting = Setting()  # PyTorch's

    def label(self):
        ranks = [f"{self.ranks} ranks"] * (self.ranks > 1)
        return " ".join([self.program, *[self.precision] * (self.precision != "fp32"), *["timed"] * self.timed, *ranks])


@dataclasses.dataclass(frozen=True)
class Row:
    """Two contestants, the first one's speed over the second's, and steps that a run takes the median of."""
    name: str
    first: Contestant
    second: Contestant
    steps: int


def pair(name, first, steps, **other):
    """A row of a contestant and what differs in the second."""
    return Row(name, first, dataclasses.replace(first, **other), steps)


LENET = Contestant("ours", "lenet", 64)
LARGE = {"alexnet": 32, "resnet18": 16, "resnet50": 16, "vgg16": 8, "googlenet": 32}  # batches; GoogLeNet has its auxiliary heads in both
OURS = {model: Contestant("ours", model, batch, 2) for model, batch in LARGE.items()}
TIMED = {model: dataclasses.replace(ours, timed=True) for model, ours in OURS.items()}
BF16 = {model: dataclasses.replace(ours, precision="bf16") for model, ours in TIMED.items()}
STEPS = {"alexnet": 8, "resnet18": 8, "resnet50": 6, "vgg16": 4, "googlenet": 4}
ROWS = [
    pair("lenet", LENET, 400, program="pytorch"),
    *(pair(model, ours, {**STEPS, "resnet50": 4, "vgg16": 3}[model], program="pytorch") for model, ours in OURS.items()),
    *(pair(f"{model}-autocast", ours, STEPS[model], program="pytorch", timed=False) for model, ours in BF16.items()),
    pair("lenet-2-ranks", dataclasses.replace(LENET, ranks=2), 400, program="pytorch"),
    pair("lenet-scaling", dataclasses.replace(LENET, ranks=2), 400, ranks=1),
]


def options(parser):
    parser.add_argument("--rows", type=words_of, help="which, separated by commas: " + ", ".join(row.name for row in ROWS))
    parser.add_argument("--threads", type=numbers_of, help="each row with these numbers of threads of a rank, in place of its own")
    parser.add_argument("--ranks", type=numbers_of, help="each row with these numbers of ranks, in place of its own")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="one round of few steps")
    parser.add_argument("--python", default=PYTHON, help="the Python that has PyTorch (%(default)s)")


class Programs:
    """Both programs, and their rates of matrix products by threads, each measured once."""

    def __init__(self, asked, place):
        self.dtbench, self.python, self.rates = str(place.program("dtbench")), asked.python, {}
        self.can_compile = False

    def run(self, contestant, words):
        """What the program prints as JSON in its last line, and what it complains of when it fails. A thread stays on its core. Ranks are
        kept on theirs by whoever starts them: bound places would be the same for all."""
        cores, needed = sorted(os.sched_getaffinity(0)), contestant.ranks * contestant.threads
        if len(cores) < needed:
            stop(f"{contestant.model} with {contestant.ranks} ranks x {contestant.threads} threads needs {needed} cores; this process may use {len(cores)}.")
        cores = ",".join(map(str, cores[:needed]))
        is_ours = contestant.program == "ours"
        words = [self.dtbench, *words, "--json"] if is_ours else [self.python, str(ROOT / "scripts/peers/torch_step.py"), *words]
        if contestant.ranks == 1:
            words = ["taskset", "-c", cores, *words]
        elif is_ours:  # the ranks of a node share one copy of the weights
            words = [*mpirun(contestant.ranks, "--bind-to", "core", "--map-by", f"slot:PE={contestant.threads}"), *words, "--allreduce", "hierarchical"]
        else:
            words += ["--ranks", str(contestant.ranks), "--cores", cores]
        is_bound = contestant.ranks == 1 and (is_ours or contestant.setting.bound)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(CHOSEN_HERE)}
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"} if is_bound else {"OMP_PROC_BIND": "false"}
        environment |= {"OMP_NUM_THREADS": str(contestant.threads), **({} if is_ours else contestant.setting.environment(contestant.threads))}
        end = subprocess.run(words, env=environment, capture_output=True, text=True)
        if end.returncode != 0:
            return None, f"`{' '.join(words)}` ended with {end.returncode}:\n{end.stdout}{end.stderr}"
        return json.loads(end.stdout.strip().splitlines()[-1]), ""

    def try_step(self, contestant, steps):
        words = [*["compute"] * (contestant.program == "ours"), "--model", contestant.model, "--batch", str(contestant.batch), "--threads",
                 str(contestant.threads), "--steps", str(steps)]
        if contestant.program == "ours":
            words += ["--precision", contestant.precision] * (contestant.precision != "fp32")
            words += ["--algorithms", "timed"] * contestant.timed
        else:
            words += ["--channels-last"] * contestant.setting.channels_last + ["--bf16"] * (contestant.precision == "bf16")
            words += ["--compile"] * contestant.setting.compiled
        return self.run(contestant, words)

    def step(self, contestant, steps):
        """What the program says of its median step."""
        result, complaint = self.try_step(contestant, steps)
        return result or stop(complaint, 1)

    def products(self, contestant):
        """GFLOP/s of matrix products on the contestant's threads; 0 where the processor has not what this setting's kernels need."""
        one = dataclasses.replace(contestant, ranks=1)
        result, complaint = self.run(one, ["matmul" if one.program == "ours" else "--sgemm", "--threads", str(one.threads)])
        if result is None and one.program == "ours":
            stop(complaint, 1)
        return result["gflops"] if result else 0

    def both_products(self, theirs):
        """Ours and PyTorch's in its contestant's setting. Ends when a comparison would measure the BLAS."""
        ours, rate = self.products(dataclasses.replace(theirs, program="ours")), self.products(theirs)
        if 3 * rate < ours:
            stop(f"PyTorch multiplies matrices at {rate:.0f} GFLOP/s on {theirs.threads} thread{'s' * (theirs.threads > 1)} ({theirs.setting.label()}), we "
                 f"at {ours:.0f}: less than a third, so a comparison would measure its BLAS. Install a better one: apt-get install "
                 f"--no-install-recommends libopenblas0-pthread")
        return ours, rate

    def kernels(self, contestant):
        """Settings with each choice of kernels, the quickest products first: OpenBLAS' own choice, those of processors that it may not know, and
        what the environment presets."""
        if contestant.threads not in self.rates:
            preset = Setting(core_type=os.environ.get("OPENBLAS_CORETYPE", ""), l2_size=os.environ.get("OPENBLAS_L2_SIZE", ""))
            candidates = [dataclasses.replace(contestant, ranks=1, setting=each) for each in dict.fromkeys([*map(Setting, CORE_TYPES), preset])]
            rates = sorted(((self.products(one), one) for one in candidates), key=lambda each: -each[0])
            self.both_products(rates[0][1])
            self.rates[contestant.threads] = [one.setting for rate, one in rates if rate > 0]
        return self.rates[contestant.threads]

    def prepared(self, contestant, steps):
        """PyTorch's contestant in its quickest setting: trials each change the best so far, first all layouts and allocators, then what matters
        less. Ours has no choice."""
        if contestant.program == "ours":
            return contestant
        kernels, tried = self.kernels(contestant), {}
        changes = [[{"channels_last": layout, "tuned_allocator": tuned} for layout in (False, True) for tuned in (False, True)]]
        changes += [[{"bound": False}], [{"blas_threads": 1}]] * (contestant.threads > 1)
        changes += [[{"compiled": True}]] * self.can_compile
        changes += [[{"core_type": each.core_type, "l2_size": each.l2_size}] for each in kernels[1:2]]
        best = kernels[0]
        for together in changes:
            for setting in [dataclasses.replace(best, **change) for change in together]:
                result, complaint = self.try_step(dataclasses.replace(contestant, setting=setting), steps)
                tried[setting] = result["samples_per_s"] if result else 0
                if not result:
                    print(complaint, file=sys.stderr)
            best = max(tried, key=tried.get)
        if tried[best] == 0:
            sys.exit(1)
        return dataclasses.replace(contestant, setting=best)


def run_row(one, rounds, steps, programs):
    first, second = (programs.prepared(each, max(2, steps // 4)) for each in (one.first, one.second))
    cells = ["", ""]
    if second.program == "pytorch":
        ours, theirs = programs.both_products(second)
        cells = [second.setting.label(), f"{ours:.0f} / {theirs:.0f}"]
    found = in_turn(rounds, {each: lambda each=each: programs.step(each, steps) for each in (first, second)})
    speeds = [[result["samples_per_s"] for result in found[each]] for each in (first, second)]
    row(one.name, first.label(), second.label(), *(f"{statistics.median(each):.1f}" for each in speeds), interval(ratios(*speeds)),
        *(f"{found[each][-1]['loss']:.4g}" for each in (first, second)), *cells)


def can_compile(python):
    """Whether this PyTorch has torch.compile. Ends with the command that installs what is missing."""
    install = "apt-get install --no-install-recommends python3-torch libopenblas0-pthread"
    asked = subprocess.run([python, "-c", "import torch; print(torch.__file__, hasattr(torch, 'compile'))"], capture_output=True, text=True)
    if asked.returncode != 0:
        stop(f"PyTorch of the distribution is missing for {python}: {install}")
    file, compiles = asked.stdout.split()
    if not file.startswith("/usr/lib/python3/"):
        return compiles == "True"  # one from elsewhere brings its BLAS
    state = subprocess.run(["dpkg-query", "-W", "-f=${Status}", "libopenblas0-pthread"], capture_output=True, text=True).stdout
    if "ok installed" not in state:
        stop(f"libopenblas0-pthread is missing; without it PyTorch computes with the reference BLAS, at 3 GFLOP/s: {install}")
    return compiles == "True"


def resized(one, threads, ranks):
    """The row with as many threads of a rank, and ranks; None: its own."""
    change = {name: number for name, number in (("threads", threads), ("ranks", ranks)) if number}
    words = [f"{number} {name if number > 1 else name[:-1]}" for name, number in change.items()]
    return Row(", ".join([one.name, *words]), dataclasses.replace(one.first, **change), dataclasses.replace(one.second, **change), one.steps)


def measure(asked, place):
    known = {each.name: each for each in ROWS}
    if unknown := set(asked.rows or []) - set(known):
        stop(f"There is no row `{unknown.pop()}`; there are: {', '.join(known)}.")
    if asked.rounds < 1:
        stop(f"--rounds is at least 1, not {asked.rounds}.")
    rows, programs = [known[name] for name in asked.rows or known], Programs(asked, place)
    rows = [resized(one, threads, ranks) for one in rows for threads in asked.threads or [None] for ranks in asked.ranks or [None]]
    theirs = [one.second for one in rows if one.second.program == "pytorch"]
    programs.can_compile = bool(theirs) and can_compile(asked.python)
    for threads in sorted({each.threads for each in theirs}):
        programs.kernels(Contestant("pytorch", "lenet", 64, threads))
    print_head()
    columns("row", "first", "second", "first, samples/s", "second, samples/s", "first / second [least, most]", "loss of the first", "of the second",
            "PyTorch's setting", "sgemm, ours / PyTorch's, GFLOP/s")
    for one in rows:
        rounds, steps = (1, max(3, one.steps // 20)) if asked.quick else (asked.rounds, one.steps)
        run_row(one, rounds, steps, programs)
