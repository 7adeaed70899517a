"""`dtctl simulate` beside measurements: PyTorch trainings on 1, 2, 4 and 8 hosts of a testbed with shaped links.

Beside each stands the simulation of the same size from the profile of the run on one host. A slower processor is modelled by sleeping
(scripts/peers/paced_training.py), because the hosts share the cores of this machine. ddp is a script without a word of dtctl,
DistributedDataParallel over Gloo; sync trains by dtctl_sync under sync-sgd with the ring. The testbed's platform is the shipped one, its
bandwidth in proportion to the rate. Prints a line a size and a summary; a quarter of an hour on a machine on which nothing else runs. Needs
root (tests/cluster/testbed check) and python3-torch.
"""
import shutil

from measuring import PYTHON, ROOT, Testbed, words_of

PROGRAMS = ["dtctl", "dtjob", "dtsim", "dtctl_sync"]
HOSTS = [1, 2, 4, 8]
PACE_S = {"lenet": 0.1, "resnet20": 0.4, "gpt": 0.3}
GBIT_BYTES_PER_S = 123.8e6  # of the platform testbed
PROGRESS = {"ddp": "thread", "sync": "poll"}  # Gloo sums in threads of its own


def options(parser):
    parser.add_argument("--rates", type=words_of, default="1gbit,100mbit")
    parser.add_argument("--models", type=words_of, default="lenet,resnet20,gpt")
    parser.add_argument("--modes", type=words_of, default="ddp,sync")
    parser.add_argument("--steps", type=int, default=40)


def recipe(name, model, mode, steps):
    sync = "sync: { strategy: sync-sgd, allreduce: ring }\n" if mode == "sync" else ""
    return (f"version: 1\nname: {name}\nprogram:\n  command: [{PYTHON}, paced_training.py, {model}, '{PACE_S[model]}', '{steps}', {mode}]\n"
            f"  files: [paced_training.py, networks.py]\ntrain: {{ warmup_steps: 8 }}\n{sync}"
            f"resources: {{ ranks_per_node: 1, oversubscribe: true, time_limit: 10m }}\nstudy: {{ mode: weak, nodes: {HOSTS} }}\n")


def compare(place, rate, model, mode, steps):
    """Errors of the simulated steps on 2 hosts and more."""
    name = f"{model}-{mode}-{rate}"
    place.sweep(recipe(name, model, mode, steps), "--profile", "testbed")
    bandwidth = 1e-6 * GBIT_BYTES_PER_S * (0.1 if rate == "100mbit" else 1)
    place.json("dtctl", "simulate", name, "--platform", "testbed", "--nodes", ",".join(map(str, HOSTS)), "--strategy", "sync-sgd:allreduce=ring", "--set",
               f"platform.bandwidth={bandwidth} MB/s", "--set", f"sync.progress={PROGRESS[mode]}", "--set", "study.repeats=1")
    of = lambda study: {each["nodes"]: each["throughput"] for each in
                        place.rows(f"SELECT nodes, throughput FROM runs_flat WHERE study = '{study}' AND throughput > 0")}
    measured, simulated = of(name), of(f"{name}-on-testbed")
    errors = []
    for hosts in HOSTS:
        step_ms, simulated_ms = (1000 * hosts * 2 / each[hosts] for each in (measured, simulated))
        errors.append(simulated_ms / step_ms - 1)
        print(f"{rate:>8} {model:>9} {mode:>5} {hosts} hosts: measured {step_ms:7.1f} ms a step, simulated {simulated_ms:7.1f} ms, "
              f"{100 * errors[-1]:+.1f} %", flush=True)
    return errors[1:]


def measure(asked, place):
    place.environment.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
    for file in ("scripts/peers/paced_training.py", "recipes/library/programs/networks.py"):
        shutil.copy(ROOT / file, place.folder)
    errors = {}
    for rate in asked.rates:
        with Testbed(place, max(HOSTS), rate):
            for model in asked.models:
                for mode in asked.modes:
                    errors.setdefault((rate, mode), []).extend(compare(place, rate, model, mode, asked.steps))
    for (rate, mode), each in errors.items():
        within = sum(abs(error) <= 0.1 for error in each)
        print(f"{rate}, {mode}: {within} of {len(each)} sizes of 2 to 8 hosts within 10 %, the largest error {100 * max(each, key=abs):+.1f} %")
