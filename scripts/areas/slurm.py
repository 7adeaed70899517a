"""Submission, status and scheduling on private Slurm clusters of this machine.

About ten minutes; --quick: 1,000 runs against a loop of sbatch, and nothing else. Needs Slurm (scripts/dependencies test).
"""
import os
import shutil
import statistics
import subprocess
import time

from measuring import ROOT, columns, in_turn, median_s, print_head, row, run, seconds_of, stop

PROGRAMS = ["dtctl", "dtjob", "dtengine"]
RECIPE = """version: 1
name: benchmark
model: {{name: lenet}}
data: {{name: synthetic, train_samples: 64, test_samples: 32}}
train: {{batch_per_rank: 8, steps: 20, warmup_steps: 2, eval_every_epochs: 0}}
resources: {{time_limit: 10m}}
sweep: {{matrix: {{train.seed: {seeds}}}}}
"""
SWEEP = "`dtctl sweep recipe.yaml --profile cluster`"


def options(parser):
    parser.add_argument("--quick", action="store_true")


class Cluster:
    def __init__(self, place):
        self.place, self.homes = place, 0
        place.environment["DTCTL_CLUSTER"] = str(place.folder / "cluster")

    def __call__(self, *words):
        return run([ROOT / "tests/cluster/cluster", *words], env=self.place.environment)

    def start(self, *words):
        self("start", *words)
        found = run(["bash", "-c", 'eval "$("$0" env)" && env -0', ROOT / "tests/cluster/cluster"], env=self.place.environment)
        self.place.environment.update(line.split("=", 1) for line in found.split("\0") if line)
        os.environ["PATH"] = self.place.environment["PATH"]  # where Slurm's commands are looked for

    def slurm(self, *words):
        return run(words, env=self.place.environment)

    def count(self, *words):
        return len(self.slurm("squeue", "-h", "-r", *words).split("\n")) - 1

    def empty_queue(self):
        self.slurm("scancel", "-u", self.slurm("id", "-un").strip())
        while self.count("-t", "pending,running,configuring,completing"):
            time.sleep(0.2)

    def new_home(self):
        """Earlier homes stay until the end: a file system that has just lost thousands of files is slow at making new ones."""
        self.homes += 1
        self.place.use_home(f"home-{self.homes}")

    def recipe(self, runs):
        self.place.write("recipe.yaml", RECIPE.format(seeds=list(range(1, runs + 1))))

    def dtctl(self, verb, *words):
        return self.place.dtctl(verb, *(["recipe.yaml", "--profile", "cluster"] if verb in ("sweep", "plan") else ["last"]), *words)

    def peak_mib(self, verb):
        """Largest resident size."""
        process = subprocess.Popen([self.place.program("dtctl"), verb, "recipe.yaml", "--profile", "cluster"], env=self.place.environment,
                                   cwd=self.place.folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            stop(f"dtctl {verb} ended with {os.waitstatus_to_exitcode(status)}", 1)
        return f"{usage.ru_maxrss // 1024} MiB"


def submission(cluster):
    """Nothing runs meanwhile, because the partition is down."""
    cluster.start("--nodes", 1)
    cluster.slurm("scontrol", "update", "partition=main", "state=down")
    job = cluster.place.write("job.sh", "#!/bin/bash\ntrue\n")
    cluster.recipe(1000)
    loop = ["bash", "-c", 'for ((i = 0; i < 1000; ++i)); do sbatch -J "run-$i" -o /dev/null "$0"; done', job]

    def sbatches():
        seconds = seconds_of(lambda: cluster.slurm(*loop))
        cluster.empty_queue()
        return seconds

    def sweeps():
        cluster.new_home()
        seconds = seconds_of(lambda: cluster.dtctl("sweep"))
        if cluster.count() != 1000:
            stop(f"Slurm holds {cluster.count()} tasks, not 1000", 1)
        cluster.empty_queue()
        return seconds

    found = in_turn(5, {"sbatch": sbatches, "sweep": sweeps})
    loop_s, sweep_s = (statistics.median(each) for each in found.values())
    say = lambda name, middle: f"{middle:.3f} s ({' '.join(f'{each:.3f}' for each in found[name])})"
    row("1,000 times `sbatch` in a loop (median of 5)", say("sbatch", loop_s), "", "`for i in …; do sbatch -J run-$i -o /dev/null job.sh; done`")
    row("1,000 runs of one shape, `dtctl sweep` into a new home, in turn with the line above (median of 5)", say("sweep", sweep_s), "", SWEEP)
    row("ratio of the two medians", f"{loop_s / sweep_s:.1f}x", ">= 20x", "")


def ten_thousand(cluster):
    cluster.recipe(10000)
    cluster.new_home()
    median = lambda times, *words: f"{median_s(times, lambda: cluster.dtctl(*words)):.3f} s"
    row("10,000 runs planned", f"{median(3, 'plan')}, peak {cluster.peak_mib('plan')}", "", "`dtctl sweep --dry-run recipe.yaml --profile cluster`")
    row("10,000 runs submitted into a new home", median(1, "sweep"), "", SWEEP)
    row("`status` of these 10,000 (median of 5), all of it", median(5, "status"), "", "`dtctl status last`")
    row("the same question by Slurm's own tool", f"{median_s(5, lambda: cluster.slurm('squeue', '-h', '-r', '-o', '%i')):.3f} s", "", "`squeue -h -r -o %i`")
    row("`sweep` of the same again: nothing to submit", median(3, "sweep"), "", SWEEP)
    row("10,000 cancelled", median(1, "cancel"), "", "`dtctl cancel last`")
    cluster.empty_queue()
    cluster.new_home()
    row("peak memory of submitting 10,000", cluster.peak_mib("sweep"), "bounded", "")


def scheduling(cluster):
    start = ["--nodes", 128, "--cloud", 1000]
    seconds = seconds_of(lambda: cluster.start(*start))
    row("128 slurmds and 1,000 CLOUD nodes started", f"{seconds:.1f} s", "", f"`tests/cluster/cluster start {' '.join(map(str, start))}`")
    cluster.recipe(1000)
    cluster.new_home()
    begin = time.perf_counter()
    cluster.dtctl("sweep", "--set", "resources.partition=cloud", "--set", "resources.ranks_per_node=2")
    submitted = time.perf_counter()
    while (given := cluster.count("-p", "cloud", "-t", "configuring,running")) < 1000:
        if time.perf_counter() - submitted > 300:
            stop(f"only {given} of 1,000 tasks were given a node in 5 minutes", 1)
        time.sleep(0.2)
    row("1,000 runs given a CLOUD node each, from the beginning of the submission", f"{time.perf_counter() - begin:.1f} s", "",
        "`dtctl sweep recipe.yaml --profile cluster --set resources.partition=cloud`")
    row("`status` of these 1,000 jobs (median of 5)", f"{median_s(5, lambda: cluster.dtctl('status')):.3f} s", "", "`dtctl status last`")
    cluster.empty_queue()
    cluster.recipe(128)
    cluster.new_home()
    row("128 real runs on the 128 slurmds, two on each of 64 nodes, to their end", f"{seconds_of(lambda: cluster.dtctl('sweep', '--wait')):.1f} s", "",
        SWEEP[:-1] + " --wait`")


def measure(asked, place):
    slurmctld = shutil.which("slurmctld") or "/usr/sbin/slurmctld"
    if not os.path.exists(slurmctld):
        stop("slurmctld is not installed; scripts/dependencies test installs it")
    print_head(run([slurmctld, "-V"]).strip())
    columns("what", "measured", "aim", "how")
    cluster = Cluster(place)
    try:
        submission(cluster)
        if not asked.quick:
            ten_thousand(cluster)
            cluster("stop")
            scheduling(cluster)
    finally:
        cluster("stop")
