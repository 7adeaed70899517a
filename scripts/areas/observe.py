"""What the observer of PyTorch programs sees, beside a stop-watch in the same loop, and what it costs.

The figures: the loop has a stop-watch of its own while it is observed, so both time the same steps; a figure is the ratio of the means,
observed to by hand, without the first steps of epochs. The cost: rounds of the same loop in turn, with the observer's functions and with those
of torch; the median of the rounds' ratios of processor time, with the quartiles, and the least step of each, without and with the observer:
beside other programs only the least times tell. Some minutes. Needs python3-torch and libopenblas0-pthread.
"""
import json
import os
import statistics
import subprocess
import sys
import time

from measuring import ROOT, columns, free_port, ratios, row, steps_of, stop, words_of

PROGRAMS = []


def options(parser):
    parser.add_argument("--models", type=words_of, default="lenet,resnet20")
    parser.add_argument("--loops", type=words_of, default="plain,accumulation,autocast,gan,ddp")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1, help="of a round")


class Loop:
    """A training loop over a DataLoader. stop(NAME) is called where the phase NAME has ended."""

    def __init__(self, kind, name, batch):
        import torch

        import networks

        self.torch, self.kind = torch, kind
        torch.manual_seed(1)
        self.model, self.judge = networks.build(name), networks.build(name)
        if kind == "ddp":
            self.model = torch.nn.parallel.DistributedDataParallel(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.second = torch.optim.SGD(self.judge.parameters(), lr=0.01)
        data = torch.utils.data.TensorDataset(torch.randn(8 * batch, *networks.MODELS[name][1]), torch.randint(0, 10, (8 * batch,)))
        self.loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)

    def pass_through(self, model, images, labels, stop):
        with self.torch.autocast("cpu", self.torch.bfloat16, enabled=self.kind == "autocast"):
            loss = self.torch.nn.functional.cross_entropy(model(images), labels)
        stop("forward")
        loss.backward()
        stop("backward")

    def update(self, optimizer, stop):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        stop("optimizer")

    def epoch(self, stop=lambda name: None):
        steps = 0
        stop("other")
        for index, (images, labels) in enumerate(self.loader):
            stop("input")
            self.pass_through(self.model, images, labels, stop)
            if self.kind == "accumulation" and index % 2 == 0:
                continue
            self.update(self.optimizer, stop)
            if self.kind == "gan":
                self.pass_through(self.judge, images, labels, stop)
                self.update(self.second, stop)
            stop("step")
            steps += 1
        return steps


class Stopwatch:
    def __init__(self):
        self.steps, self.now, self.phases, self.begin = [], None, {}, None

    def __call__(self, name):
        now = time.perf_counter()
        if name in ("other", "step"):
            if name == "step":
                self.steps.append(dict(self.phases, step_s=now - self.begin))
            self.phases, self.begin = {}, now
        else:
            self.phases[name] = self.phases.get(name, 0) + now - self.now
        self.now = now


def run_rank(asked, place):
    """One loop with one model, in this process, which is one rank. Prints what it found as JSON."""
    (kind,), (name,) = asked.loops, asked.models
    report = place.write(f"report-{os.environ['RANK']}", "")
    os.environ.update(DTCTL_OBSERVE=f"{os.environ['WORLD_SIZE']} 1", DTCTL_REPORT=str(report))
    import torch
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    torch.set_num_threads(1)
    if kind == "ddp":
        torch.distributed.init_process_group("gloo")
    places = [(torch.nn.Module, "__call__"), (torch.autograd, "backward"), (torch.utils.data.DataLoader, "__iter__"),
              (_BaseDataLoaderIter, "__next__"), (torch.optim.Optimizer, "zero_grad"), (torch.optim.SGD, "step")]
    first = Loop(kind, name, asked.batch)
    first.epoch()
    plain = [getattr(owner, what) for owner, what in places]
    import dtctl_observe

    dtctl_observe.watch(torch)
    loop = Loop(kind, name, asked.batch)
    plain_loop = first if kind == "ddp" else loop  # the hook of DistributedDataParallel stays
    observed = [getattr(owner, what) for owner, what in places]

    def round_of(functions, which, stop=lambda name: None):
        """Processor time of a step."""
        for (owner, what), function in zip(places, functions):
            setattr(owner, what, function)
        begin, steps = time.process_time(), 0
        for _ in range(epochs):
            steps += which.epoch(stop)
        return (time.process_time() - begin) / steps

    epochs = 1
    round_of(plain, plain_loop)
    epochs = max(1, round(asked.seconds / (round_of(plain, plain_loop) * 8)))  # of 8 batches
    if kind == "ddp":
        count = torch.tensor(epochs)
        torch.distributed.broadcast(count, 0)
        epochs = int(count)
    round_of(observed, loop)
    costs = []
    for i in range(asked.rounds):  # whose turn is first changes
        order = 1 if i % 2 == 0 else -1
        costs.append([round_of(*turn) for turn in [(plain, plain_loop), (observed, loop)][::order]][::order])
    without, within = zip(*costs)
    observer = dtctl_observe._observer
    for (owner, what), function in zip(places, observed):
        setattr(owner, what, function)
    before = len(steps_of(report)) + (observer.step.end is not None)
    watch = Stopwatch()
    for _ in range(3):
        round_of(observed, loop, watch)
    observer.finish()
    if observer.trouble:
        raise RuntimeError(observer.trouble)
    seen = steps_of(report)[before:]
    assert len(seen) == len(watch.steps), (len(seen), len(watch.steps))
    an_epoch = len(seen) // (3 * epochs)
    seen, by_hand = ([step for i, step in enumerate(steps) if i % an_epoch > 0] for steps in (seen, watch.steps))
    mean = lambda steps, phase: statistics.fmean(step.get(phase) or 0 for step in steps)
    found = {phase: (mean(seen, phase), mean(by_hand, phase)) for phase in ("step_s", "input", "forward", "optimizer")}
    found["backward"] = (mean(seen, "backward") + mean(seen, "communication"), mean(by_hand, "backward"))
    print(json.dumps({"found": found, "exposed_s": mean(seen, "communication"), "ratios": ratios(within, without), "least_s": [min(without), min(within)]}),
          flush=True)


def run(kind, name, asked):
    ranks = 2 if kind == "ddp" else 1
    words = [sys.executable, ROOT / "scripts/measure", "observe", *sys.argv[1:], "--loops", kind, "--models", name]
    variables = dict(os.environ, OMP_NUM_THREADS="1", WORLD_SIZE=str(ranks), MASTER_ADDR="localhost", MASTER_PORT=str(free_port()))
    processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=dict(variables, RANK=str(rank))) for rank in range(ranks)]
    texts = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        stop(f"{kind} {name} failed", 1)
    return json.loads(texts[0].splitlines()[-1])


def measure(asked, place):
    if "RANK" in os.environ:
        return run_rank(asked, place)
    columns("loop", "model", "step", "input", "forward", "backward", "optimizer", "exposed", "cost of being observed")
    for kind in asked.loops:
        for name in asked.models:
            one = run(kind, name, asked)
            step_s = one["found"]["step_s"][1]
            cells = []
            for phase in ("step_s", "input", "forward", "backward", "optimizer"):
                own, by_hand = one["found"][phase]
                cells.append(f"{own / by_hand:.3f} of {1e3 * by_hand:.2f} ms" if by_hand > 0.02 * step_s else f"{1e2 * (own - by_hand) / step_s:+.2f} % of the step")
            low, middle, high = (1e2 * (each - 1) for each in statistics.quantiles(one["ratios"], n=4))
            without, within = (1e3 * each for each in one["least_s"])
            row(kind, name, *cells, f"{1e3 * one['exposed_s']:.2f} ms", f"{middle:+.2f} % ({low:+.2f} to {high:+.2f}), least {without:.3f} and {within:.3f} ms")
