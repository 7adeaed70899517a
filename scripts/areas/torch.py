"""A step of PyTorch under dtctl_sync beside DistributedDataParallel over Gloo, and beside a plain loop on one rank.

  scripts/measure torch [--models lenet,resnet20] [--ranks 2] [--batch 64] [--rounds 12]
  tests/cluster/testbed up --hosts 4 --rate 1gbit
  scripts/measure torch --testbed --ranks 4 --models alexnet --batch 4 --rounds 3 --strategies sync-sgd,sync-easgd:period=4,diloco:period=16
  scripts/measure torch --testbed --ranks 2 --without-mpi --models lenet,resnet20,small-gpt

All run in the same processes, in turn, a round of at least a second and a period each; a figure is the median of the rounds' ratios, with the
least and the most. The peer is taken with its own gradients and with those in its buckets, and the better one counts. A few minutes. Needs
python3-torch and libopenblas0-pthread (with the reference BLAS PyTorch is ten times as slow).
"""
import os
import statistics
import subprocess
import sys
import time

import torch

import networks
from measuring import ROOT, in_turn, interval, mpirun, ratios, words_of

PROGRAMS = ["dtctl_sync"]
TRAININGS = []


def options(parser):
    parser.add_argument("--models", type=words_of, default="lenet,resnet20", help="of networks.py, or small-gpt")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64, help="of a rank")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--strategies", type=words_of, default="sync-sgd", help="of dtctl_sync, as NAME or NAME:KEY=VALUE")
    parser.add_argument("--without-mpi", action="store_true", help="the ranks are started as torchrun does, and dtctl_sync exchanges over TCP")
    parser.add_argument("--testbed", action="store_true", help="the ranks run on the hosts of the testbed that stands; without MPI one on each")


def plain(model, optimizer, loss_of, keeps_gradients=False):
    def step():
        optimizer.zero_grad(set_to_none=not keeps_gradients)
        loss_of(model).backward()
        optimizer.step()

    return step


def ddp(in_buckets):
    def wrap(model, optimizer, loss_of):
        Parallel = torch.nn.parallel.DistributedDataParallel
        masks = [name for name, values in model.named_buffers() if values.dtype == torch.bool]
        Parallel._set_params_and_buffers_to_ignore_for_model(model, masks)  # Gloo cannot broadcast them
        return plain(Parallel(model, gradient_as_bucket_view=in_buckets), optimizer, loss_of, in_buckets)

    return wrap


def ours(words):
    name, *settings = words.split(":")

    def wrap(model, optimizer, loss_of):
        import dtctl_sync

        training = dtctl_sync.Training(model, optimizer, strategy=name, **dict(each.split("=") for each in settings))
        TRAININGS.append(training)
        step = lambda: training.step(lambda: loss_of(model), samples=1)
        step.period = int(training.setting("sync.period"))
        return step

    return wrap


def step_of(name, batch, wrap):
    """A step over a batch that stays."""
    torch.manual_seed(1)
    if name == "small-gpt":
        import small_gpt

        model = small_gpt.Gpt(40)
        images, labels = torch.randint(0, 40, (2, batch, small_gpt.CONTEXT))
    else:
        model = networks.build(name)
        images, labels = torch.randn(batch, *networks.MODELS[name][1]), torch.randint(0, 10, (batch,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return wrap(model, optimizer, lambda net: torch.nn.functional.cross_entropy(net(images), labels))


def run_rank(asked):
    import dtctl_sync

    torch.set_num_threads(1)
    if asked.without_mpi:
        os.sched_setaffinity(0, [sorted(os.sched_getaffinity(0))[int(os.environ["LOCAL_RANK"])]])  # as mpirun binds its ranks
    base = dtctl_sync.Training(*(lambda m: (m, torch.optim.SGD(m.parameters(), lr=0.1)))(torch.nn.Linear(2, 2)))
    if base.ranks > 1:
        os.environ.update(RANK=str(base.rank), WORLD_SIZE=str(base.ranks))
        torch.distributed.init_process_group("gloo")
    for name in asked.models:
        kinds = {"plain": plain} if base.ranks == 1 else {"DDP": ddp(False), "DDP, gradients in buckets": ddp(True)}
        kinds.update({f"dtctl_sync {words}": ours(words) for words in asked.strategies})
        steps = {kind: step_of(name, asked.batch, wrap) for kind, wrap in kinds.items()}
        first = next(iter(steps.values()))
        for _ in range(3):
            first()
        begin = time.perf_counter()
        first()
        count = max(1, int(base.mean(1 / (time.perf_counter() - begin))[0]))  # of a second, the same on all ranks

        def seconds(step):
            period = getattr(step, "period", 1)
            number = -(-count // period) * period
            begin = time.perf_counter()
            for _ in range(number):
                step()
            return base.mean((time.perf_counter() - begin) / number)[0]

        times = in_turn(asked.rounds, {kind: lambda step=step: seconds(step) for kind, step in steps.items()}, warm_up=1)
        if base.rank == 0:
            tell(name, asked, base.ranks, times)
    for training in [*TRAININGS, base]:
        training.close()
    dtctl_sync.library._end_mpi(os.getpid())
    sys.stdout.flush()
    os._exit(0)  # Gloo's threads can deadlock with the end of the interpreter


def tell(name, asked, ranks, times):
    own = [kind for kind in times if kind.startswith("dtctl_sync")]
    best = min(set(times) - set(own), key=lambda kind: statistics.median(times[kind]))
    for kind in own:
        each = ratios(times[best], times[kind])
        print(f"{name}, {ranks} rank{'s' * (ranks > 1)} of {asked.batch}: {kind} is {interval(each, '.3f')} times as fast as {best}, {len(each)} rounds")
    print("steps in ms: " + ", ".join(f"{kind} {1e3 * statistics.median(values):.2f}" for kind, values in times.items()), flush=True)


def measure(asked, place):
    if "MASTER_ADDR" in os.environ:
        return run_rank(asked)
    variables = dict(
        DTCTL_SYNC_LIBRARY=str(place.build / "lib/libdtctl_sync.so"), OMP_NUM_THREADS="1", MASTER_PORT="29517", PYTHONDONTWRITEBYTECODE="1",
        MASTER_ADDR="host0" if asked.testbed else "127.0.0.1", MALLOC_MMAP_THRESHOLD_="1073741824", MALLOC_TRIM_THRESHOLD_="1073741824")
    testbed, program = ROOT / "tests/cluster/testbed", [sys.executable, ROOT / "scripts/measure", "torch", "--build", place.build, *sys.argv[1:]]

    def start(launcher, **more):
        return subprocess.Popen(list(map(str, [*launcher, *program])), env={**os.environ, **variables, **more})

    if asked.without_mpi:
        started = [start([testbed, "exec", f"host{rank}"] if asked.testbed else [], RANK=str(rank), WORLD_SIZE=str(asked.ranks),
                         LOCAL_RANK="0" if asked.testbed else str(rank), LOCAL_WORLD_SIZE="1" if asked.testbed else str(asked.ranks))
                   for rank in range(asked.ranks)]
    elif asked.testbed:
        started = [start([testbed, "run", str(asked.ranks), *(word for name in variables for word in ("-x", name))])]
    else:
        started = [start(mpirun(asked.ranks, "--oversubscribe", "--bind-to", "core"))]
    while None in (codes := [each.poll() for each in started]) and not any(codes):
        time.sleep(0.05)
    for each in started:
        each.kill()  # the others would wait for one that has failed
    return max(codes, key=lambda code: code or 0)
