"""Plants causes of lost efficiency into real runs, and prints the share of each loss that `dtctl results --why` finds in the right factor.

A program whose work is sleep (it reports through dtctl_report), the same in PyTorch under DistributedDataParallel (observed; not a word of dtctl
in it; needs python3-torch), and dtengine with modelled passes (train.modelled_rate; a preloaded library plants the cause), train on 1, 2, 4 and
8 ranks. With several ranks one thing changes:

  imbalance      rank 1 computes 1.4 times as long            jitter       in every step another rank computes 1.4 times as long
  contention     all ranks compute 1.4 times as long          superlinear  all ranks compute 0.7 times as long
  input          all ranks wait for their input, 0.4 of the time that they compute; communication: likewise
  scatter        every step of every rank, also of one alone, scatters at random by 5 % (the program only)

Each cause is compared with runs of the same size without one: the share is ln(factor / factor without) / ln(efficiency / efficiency without).
`computation` is what the factors of computation change by, in percent, where the cause is another one: it should be 0. About 20 minutes. Nothing
needs a core of its own: ranks sleep. Do not build meanwhile: a run refuses a program that has changed.
"""
import math

import numpy

from measuring import PYTHON, columns, numbers_of, row, words_of

PROGRAMS = ["dtctl", "dtjob", "dtengine", "planted_cause"]
CAUSES = {"imbalance": "load_balance", "jitter": "jitter", "contention": "contention", "input": "input",
          "communication": "communication", "superlinear": "contention", "scatter": "jitter"}
KINDS = ["program", "observed", "dtengine"]
STEPS, WARMUP = 40, 4

WORK = f'''import os, random, socket, time

STEPS, RANKS, RANK = {STEPS}, int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
CAUSE = os.environ["DTCTL_PROGRAM_PARAMETERS_CAUSE"]
planted = lambda cause: RANKS > 1 and CAUSE == cause


def work_s(step):
    time_s = 0.050
    if planted("contention") or (planted("imbalance") and RANK == 1) or (planted("jitter") and step % RANKS == RANK):
        time_s *= 1.4
    if planted("superlinear"):
        time_s *= 0.7
    if CAUSE == "scatter":
        time_s *= 1 + 0.05 * random.gauss(0, 1)
    return time_s

'''
PROGRAM = WORK + '''
import dtctl_report as report

ADDRESS = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def connections():
    if RANK == 0:
        server = socket.create_server(ADDRESS, backlog=RANKS)
        return [server.accept()[0] for _ in range(RANKS - 1)]
    while True:
        try:
            return [socket.create_connection(ADDRESS)]
        except ConnectionRefusedError:
            time.sleep(0.05)


def meet(peers):  # rank 0 hears of all others, then answers all
    for peer in peers if RANK == 0 else []:
        peer.recv(1)
    for peer in peers:
        peer.send(b".")
    for peer in peers if RANK > 0 else []:
        peer.recv(1)


peers = connections()
report.begin()
for step in range(STEPS):
    with report.phase("input"):
        time.sleep(0.020 * planted("input"))
    work = work_s(step)
    for phase, share in (("forward", 0.3), ("backward", 0.6), ("optimizer", 0.1)):
        with report.phase(phase):
            time.sleep(share * work)
    with report.phase("communication"):
        meet(peers)
        time.sleep(0.020 * planted("communication"))
    report.step(loss=1.0, samples=16)
report.result()
'''
OBSERVED = WORK + '''
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

torch.set_num_threads(1)
step = -1


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 16 * STEPS

    def __getitem__(self, index):
        if index % 16 == 0:
            time.sleep(0.020 * planted("input"))
        return torch.zeros(8), index % 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.layer.weight.register_hook(lambda _: time.sleep(0.6 * work_s(step)))

    def forward(self, x):
        time.sleep(0.3 * work_s(step))
        return self.layer(x)


class Sgd(torch.optim.SGD):
    def step(self, closure=None):
        time.sleep(0.1 * work_s(step))
        return super().step(closure)


def slow_sum(state, bucket):
    time.sleep(0.020)
    return allreduce_hook(state, bucket)


model = Model()
if RANKS > 1:
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
    if CAUSE == "communication":
        model.register_comm_hook(None, slow_sum)
optimizer = Sgd(model.parameters(), lr=0.001)
for x, y in torch.utils.data.DataLoader(Samples(), batch_size=16):
    step += 1
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
'''
PROGRAM_RECIPE = '''version: 1
name: {kind}-{cause}
program: {{ command: [{python}, planted.py], files: [planted.py], parameters: {{ cause: {cause} }} }}
train: {{ warmup_steps: {warmup} }}
study: {{ mode: weak, ranks: {ranks}, repeats: {repeats} }}
resources: {{ time_limit: 5m, oversubscribe: true }}
'''
# Few parameters, so that communication takes no time of its own; one pass is one sleep, and all gradients are one sum.
ENGINE_RECIPE = '''version: 1
name: dtengine-{cause}
model: {{ layers: [{{ max_pooling: {{ kernel: 7, stride: 7 }} }}, {{ inner_product: {{ outputs: classes }} }}] }}
data: {{ name: packed, path: {images}, prefetch_batches: 0, order: blocks, block_bytes: {block_bytes} }}
train: {{ batch_per_rank: 8, steps: {steps}, warmup_steps: {warmup}, modelled_rate: 80, eval_every_epochs: 0, seed: {seed} }}
optimizer: {{ name: sgd, learning_rate: 0.001 }}
sync: {{ progress: none, allreduce: mpi }}
study: {{ mode: weak, ranks: {ranks}, repeats: {repeats} }}
resources:
  time_limit: 5m
  oversubscribe: true
  threads_per_rank: 1
  env: {{ LD_PRELOAD: {library}, DTCTL_TEST_CAUSE: {cause}, DTCTL_TEST_PASSES: "{steps}" }}
'''


def options(parser):
    parser.add_argument("--ranks", type=numbers_of, default="1,2,4,8", help="sizes; the first one has no cause")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kinds", type=words_of, default=",".join(KINDS))
    parser.add_argument("--causes", type=words_of, default=",".join(CAUSES))


def logs_of(place, study):
    """ln of the efficiency and of the factors of each size."""
    found = {}
    for point in place.json("dtctl", "results", study, "--why")["why"]:
        logs = {name[len("factor_"):]: math.log(value) for name, value in point.items() if name.startswith("factor_") and value is not None}
        found[point["ranks"]] = dict(logs, efficiency=math.log(point["efficiency"]), computation=logs.get("batch", 0) + logs["contention"])
    return found


def images_of(place):
    """A packed set. A rank reads it in every step, because a block is a batch and nothing is read ahead."""
    packed = place.folder / "planted.pack"
    if not packed.exists():
        images = lambda count: numpy.zeros((count, 28, 28), "u1")
        numpy.savez(place.folder / "planted.npz", train_images=images(512), train_labels=numpy.arange(512) % 2, test_images=images(32),
                    test_labels=numpy.arange(32) % 2)
        place.dtctl("data", "pack", "planted.npz", "-o", packed)
    return packed


def sweep(place, kind, cause, asked):
    more = {"cause": cause, "warmup": WARMUP, "ranks": asked.ranks, "repeats": asked.repeats}
    if kind == "dtengine":
        place.sweep(ENGINE_RECIPE.format(images=images_of(place), block_bytes=8 * 28 * 28, steps=STEPS, seed=["none", *CAUSES].index(cause) + 1,
                                         library=place.program("libplanted_cause.so"), **more))
    else:
        place.write("planted.py", PROGRAM if kind == "program" else OBSERVED)
        place.sweep(PROGRAM_RECIPE.format(kind=kind, python="python3" if kind == "program" else PYTHON, **more))
    return logs_of(place, f"{kind}-{cause}")


def measure(asked, place):
    place.environment["OMP_WAIT_POLICY"] = "passive"
    columns("kind", "cause", "ranks", "loss", "share", "computation")
    for kind in asked.kinds:
        without = sweep(place, kind, "none", asked)
        for cause in asked.causes:
            if cause == "scatter" and kind != "program":
                continue
            found, factor = sweep(place, kind, cause, asked), CAUSES[cause]
            for ranks in sorted(asked.ranks)[1:]:
                less = {name: value - without[ranks][name] for name, value in found[ranks].items() if name in without[ranks]}
                other = "" if factor == "contention" else f"{100 * math.expm1(less['computation']):+.1f} %"
                row(kind, cause, ranks, f"{-100 * math.expm1(less['efficiency']):.1f} %", f"{100 * less[factor] / less['efficiency']:.0f} %", other)
