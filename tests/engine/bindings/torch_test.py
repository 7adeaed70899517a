"""dtctl_sync with what training scripts do to it. On two ranks:

    mpirun -np 2 /usr/bin/python3 tests/engine/bindings/torch_test.py
"""
import contextlib
import copy
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "share/dtctl/program"))
import dtctl_sync as sync
from dtctl_sync import packed, sums, waiting

RANK_STARTER = str(pathlib.Path(__file__).with_name("torch_ranks.py"))
RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
RANKS = int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))
SUMMING = ("sync-sgd", "hsgd")
SPREADING = ("local-sgd", "diloco", "sync-easgd", "decentralized-easgd")


def network(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.BatchNorm1d(20), nn.Linear(20, 3))


def problem(samples=96):
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(samples, 6, generator=generator)
    return x, (x[:, 0] + x[:, 1] ** 2).mul(1.5).long().clamp(0, 2)


def loss_of(model, batch):
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def part(batch, rank=None):
    return tuple(values[RANK if rank is None else rank::RANKS] for values in batch)


def weights_of(model):
    return torch.cat([p.detach().flatten().clone() for p in model.parameters()])


def sgd(model, **more):
    return torch.optim.SGD(model.parameters(), lr=0.1, **{"momentum": 0.9, **more})


class Case(unittest.TestCase):
    def train(self, training, model, steps=4, **options):
        batch = part(problem())
        return [float(training.step(lambda: loss_of(model, batch), samples=len(batch[0]), **options)) for _ in range(steps)]

    def require_equal_on_ranks(self, training, model):
        mine = weights_of(model)
        mean = torch.tensor(training.mean(*mine.tolist()))
        torch.testing.assert_close(mine, mean, rtol=1e-6, atol=1e-7)


class Closures(Case):
    def test_the_summed_gradient_is_that_of_the_whole_batch(self):
        """Without batch norm, which normalises each rank's own batch."""
        for strategy in SUMMING:
            torch.manual_seed(1)
            model = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
            alone = copy.deepcopy(model)
            optimizer = sgd(alone)
            for _ in range(4):
                optimizer.zero_grad()
                loss_of(alone, problem()).backward()
                optimizer.step()
            with sync.Training(model, sgd(model), strategy=strategy) as training:
                self.train(training, model)
            torch.testing.assert_close(weights_of(model), weights_of(alone), rtol=1e-4, atol=1e-5)

    def test_every_strategy_lowers_the_loss(self):
        for strategy in (*SUMMING, *SPREADING):
            model = network()
            with sync.Training(model, sgd(model, momentum=0.0), strategy=strategy) as training:
                losses = self.train(training, model, 30)
            self.assertLess(losses[-1], 0.8 * losses[0], strategy)

    def test_arithmetic_on_the_device_gives_what_that_of_the_host_gives(self):
        """The device is the CPU here, with weights that have a copy in the host's memory as on a GPU."""
        outers = [{"rule": rule, "learning_rate": 0.5} for rule in ("sgd", "momentum", "nesterov", "adam")]
        cases = [{"strategy": strategy, "period": 2} for strategy in ("local-sgd", "sync-easgd", "decentralized-easgd")]
        cases += [{"strategy": "diloco", "period": 2, "outer": outer} for outer in outers]
        cases += [{"strategy": "diloco", "period": 3, "outer": {"fragments": 2, "delay": 1, "mix": 0.25}}, {"strategy": "sync-easgd", "overlap": 3}]
        self.addCleanup(setattr, packed.Packed, "always_mirrors", False)
        for case in cases:
            found = {}
            for is_on_device in (False, True):
                packed.Packed.always_mirrors = is_on_device
                model = network()
                with sync.Training(model, sgd(model), allreduce="ring", **case) as training:
                    self.train(training, model, 7)
                    kept = copy.deepcopy([model.state_dict(), training.state_dict()])
                    self.train(training, model, 2)
                    for each, state in zip((model, training), kept):
                        each.load_state_dict(state)
                    self.train(training, model, 3)
                    with training.evaluation():
                        evaluated = weights_of(model)
                found[is_on_device] = torch.cat([weights_of(model), evaluated])
            torch.testing.assert_close(found[True], found[False], rtol=1e-4, atol=1e-5, msg=lambda text: f"{case}: {text}")

    def test_progress_gives_the_same_weights(self):
        found = {}
        for progress in ("none", "poll"):
            model = network()
            with sync.Training(model, sgd(model), strategy="sync-sgd", allreduce="ring", progress=progress) as training:
                self.train(training, model)
            found[progress] = weights_of(model)
        self.assertTrue(torch.equal(found["none"], found["poll"]))

    def test_accumulated_closures_give_the_gradient_of_the_whole(self):
        torch.manual_seed(1)
        model = nn.Linear(6, 3)
        other = copy.deepcopy(model)
        batch = part(problem())
        halves = list(zip(*(values.chunk(2) for values in batch)))
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            training.step(lambda: loss_of(model, batch))
        with sync.Training(other, sgd(other), strategy="sync-sgd") as training:
            training.step([lambda half=half: loss_of(other, half) for half in halves])
        torch.testing.assert_close(weights_of(model), weights_of(other))

    def test_clipping_sees_the_gradient_of_all_ranks(self):
        model = network()
        norms = []
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            self.train(training, model, 2, before_update=lambda: norms.append(
                float(nn.utils.clip_grad_norm_(model.parameters(), 0.01))))
            self.require_equal_on_ranks(training, model)
            torch.testing.assert_close(torch.tensor(norms), torch.tensor(training.mean(*norms)))

    def test_schedulers_change_the_rate(self):
        model = network()
        optimizer = sgd(model)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.0)
        with sync.Training(model, optimizer, strategy="sync-sgd") as training, warnings.catch_warnings():
            warnings.simplefilter("error")
            self.train(training, model, 1)
            scheduler.step()
            before = weights_of(model)
            self.train(training, model, 1)
            self.assertTrue(torch.equal(before, weights_of(model)))

    def test_frozen_layers_stay_and_are_those_of_rank_0(self):
        model = network(seed=1 + RANK)
        for parameter in model[0].parameters():
            parameter.requires_grad = False
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            before = model[0].weight.clone()
            self.train(training, model)
            self.assertTrue(torch.equal(before, model[0].weight))
            self.require_equal_on_ranks(training, model)

    def test_tied_weights_are_one_tensor(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
                self.head.weight = self.embedding.weight

            def forward(self, x):
                return self.head(self.embedding(x))

        torch.manual_seed(1)
        model = Tied()
        alone = copy.deepcopy(model)
        optimizer = sgd(alone)
        batch = torch.arange(60) % 5, (torch.arange(60) + 1) % 5
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(alone, batch).backward()
            optimizer.step()
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            for _ in range(3):
                training.step(lambda: loss_of(model, part(batch)))
        self.assertEqual(model.head.weight.data_ptr(), model.embedding.weight.data_ptr())
        torch.testing.assert_close(weights_of(model), weights_of(alone), rtol=1e-4, atol=1e-5)

    def test_parameters_without_a_gradient(self):
        """A branch that is not taken, on one rank and on all."""
        class Branches(nn.Module):
            def __init__(self):
                super().__init__()
                self.both, self.never, self.first = nn.Linear(6, 3), nn.Linear(6, 3), nn.Linear(6, 3)

            def forward(self, x):
                return self.both(x) + self.first(x) if RANK == 0 else self.both(x)

        for strategy in ("sync-sgd", "local-sgd"):
            torch.manual_seed(1)
            model = Branches()
            before = model.never.weight.clone()
            with sync.Training(model, sgd(model), strategy=strategy) as training:
                self.train(training, model)
                self.require_equal_on_ranks(training, model)
            torch.testing.assert_close(before, model.never.weight, rtol=1e-6, atol=0)  # a mean of three is rounded

    def test_adam_is_the_rule_of_the_workers(self):
        for strategy in ("sync-sgd", "local-sgd"):
            model = network()
            with sync.Training(model, torch.optim.AdamW(model.parameters(), lr=0.01), strategy=strategy) as training:
                losses = self.train(training, model, 20)
            self.assertLess(losses[-1], losses[0])

    def test_an_evaluation_has_one_model_on_all_ranks_and_gives_the_own_weights_back(self):
        for strategy in (*SUMMING, *SPREADING):
            model = network()
            with sync.Training(model, sgd(model, momentum=0.0), strategy=strategy, **({"period": 3} if strategy in SPREADING else {})) as training:
                self.train(training, model, 4)
                before, statistics = weights_of(model), model[2].running_mean.clone()
                with training.evaluation() as evaluated:
                    self.assertFalse(model.training)
                    loss = float(loss_of(evaluated, problem()))
                    torch.testing.assert_close(training.mean(loss)[0], loss, rtol=1e-6, atol=0, msg=strategy)
                self.assertTrue(model.training)
                self.assertTrue(torch.equal(before, weights_of(model)))
                self.assertTrue(torch.equal(statistics, model[2].running_mean))

    def test_a_training_goes_on_from_its_state_bit_for_bit(self):
        for strategy in (*SUMMING, *SPREADING):
            options = {"strategy": strategy, **({"period": 3} if strategy in SPREADING else {})}
            model = network()
            optimizer = sgd(model, momentum=0.9 if strategy in SUMMING else 0.0)
            with sync.Training(model, optimizer, **options) as training:
                self.train(training, model, 4)
                kept = copy.deepcopy([model.state_dict(), optimizer.state_dict(), training.state_dict()])
                self.train(training, model, 5)
                expected = weights_of(model)
            model = network(seed=9)
            optimizer = sgd(model, momentum=0.9 if strategy in SUMMING else 0.0)
            with sync.Training(model, optimizer, **options) as training:
                for each, state in zip((model, optimizer, training), kept):
                    each.load_state_dict(state)
                self.train(training, model, 5)
            self.assertTrue(torch.equal(expected, weights_of(model)), strategy)

    def test_a_state_of_another_training_is_refused(self):
        model = network()
        with sync.Training(model, sgd(model), strategy="local-sgd", period=3) as training:
            self.train(training, model, 1)
            state = training.state_dict()
        with sync.Training(model, sgd(model, momentum=0.0), strategy="decentralized-easgd") as training:
            with self.assertRaisesRegex(sync.SyncError, "state"):
                training.load_state_dict(state)


class ClosuresOnADeviceThatSums(Closures):
    """The same on the CPU as on GPUs with NCCL: weights have copies in the host's memory, and a process group, here Gloo, sums where they lie."""

    def setUp(self):
        self.addCleanup(setattr, packed.Packed, "always_mirrors", False)
        self.addCleanup(setattr, sums.Sums, "on_processors", False)
        packed.Packed.always_mirrors = sums.Sums.on_processors = True

    def train(self, training, model, steps=4, **options):
        is_tree = training.setting("sync.strategy") == "sync-easgd" and training.setting("sync.overlap") == "1"
        sums_there = packed.Packed.always_mirrors and RANKS > 1 and not is_tree
        self.assertEqual(training._sums is not None, sums_there)
        return super().train(training, model, steps, **options)

    @unittest.skipIf(RANKS == 1, "one rank waits for nobody")
    def test_what_the_device_waits_for_is_communication_and_no_update(self):
        model, phases, watch = network(), [], [0.0]
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            wait, ends_exchange = training._sums.wait, training._measured.ends_exchange

            def timed_wait(numbers):
                begin = time.monotonic()
                wait(numbers)
                watch[0] += time.monotonic() - begin

            def ends(*arguments):
                begin = training._measured.times.marks[-1].host_s  # of the update
                ends_exchange(*arguments)
                exchange = training._measured._exchanges[-1]
                phases.append((exchange.times.phases(exchange.waits), exchange.times.marks[-1].host_s - begin))

            training._sums.wait, training._measured.ends_exchange = timed_wait, ends
            self.train(training, model)
            waited_s = watch[0]  # later the time of a sum alone is measured
        self.assertGreater(waited_s, 0)
        self.assertGreaterEqual(sum(each["communication"] for each, _ in phases), waited_s)
        for each, after_wait_s in phases:
            self.assertGreaterEqual(each["optimizer"], after_wait_s)


class Batches(Case):
    def epoch(self, loader, **options):
        model = network()
        with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
            seen = []
            for x, y in training.batches(loader, **options):
                seen += x[:, 0].tolist()
                training.step(lambda: loss_of(model, (x, y)))
            return seen, training.step_number

    def data(self):
        return torch.utils.data.TensorDataset(*problem())

    def test_each_worker_sees_its_own_samples(self):
        for workers in (0, 2):
            seen, steps = self.epoch(torch.utils.data.DataLoader(self.data(), 8, shuffle=True, num_workers=workers))
            self.assertEqual((len(seen), steps), (96 // RANKS, 12 // RANKS))
            self.assertTrue(set(seen) <= set(problem()[0][:, 0].tolist()))
            self.assertEqual(len(set(seen)), len(seen))

    def test_steps_go_over_the_ends_of_epochs(self):
        seen, steps = self.epoch(torch.utils.data.DataLoader(self.data(), 8, shuffle=True), steps=30)
        self.assertEqual((len(seen), steps), (240, 30))

    @unittest.skipIf(RANKS == 1, "one rank reads the loader as it is, in the order of torch's own random numbers")
    def test_a_training_that_goes_on_sees_the_batches_that_would_have_come(self):
        loader, state, seen = torch.utils.data.DataLoader(self.data(), 8, shuffle=True), None, {}
        for name, epochs in {"whole": 4, "first": 2, "second": 2}.items():
            model = network()
            with sync.Training(model, sgd(model), strategy="sync-sgd") as training:
                if name == "second":
                    training.load_state_dict(state)
                seen[name] = []
                for _ in range(epochs):
                    for x, y in training.batches(loader):
                        training.step(lambda: loss_of(model, (x, y)))
                        seen[name] += x[:, 0].tolist()
                state = training.state_dict()
        self.assertEqual(seen["whole"], seen["first"] + seen["second"])

    def test_weights_of_samples_stay(self):
        sampler = torch.utils.data.WeightedRandomSampler([1.0 if i < 8 else 0.0 for i in range(96)], 96)
        seen, steps = self.epoch(torch.utils.data.DataLoader(self.data(), 8, sampler=sampler))
        self.assertEqual(steps, 12 // RANKS)
        self.assertTrue(set(seen) <= set(problem()[0][:8, 0].tolist()))

    def test_workers_have_equally_many_batches(self):
        """Of 13 batches in the iterable set and 99 samples in the other."""
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return zip(*problem(13 * 8))

        self.assertEqual(self.epoch(torch.utils.data.DataLoader(Stream(), 8))[1], 13 // RANKS)
        data = torch.utils.data.TensorDataset(*problem(99))
        self.assertEqual(self.epoch(torch.utils.data.DataLoader(data, 8))[1], 99 // RANKS // 8 if RANKS > 1 else 13)

    def test_iterable_data_sets_are_dealt_out_by_batches(self):
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return zip(*problem())

        seen, steps = self.epoch(torch.utils.data.DataLoader(Stream(), 8))
        self.assertEqual((len(seen), steps), (96 // RANKS, 12 // RANKS))


class Refusals(Case):
    def test_settings_that_are_not_there(self):
        model = network()
        with self.assertRaisesRegex(sync.SyncError, "sync.perido.*sync.period"):
            sync.Training(model, sgd(model), perido=4)
        with self.assertRaisesRegex(sync.SyncError, "easdg"):
            sync.Training(model, sgd(model), strategy="easdg")


SCRIPT = """
    import os, signal, sys, torch
    from torch import nn
    if {reports!r}: os.environ["DTCTL_REPORT"] = {reports!r} + os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    sys.path.insert(0, {module!r})
    import dtctl_sync as sync
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
    x = torch.randn(96, 6); y = x[:, 0].gt(0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 8, shuffle=True)
"""


class Waiting(unittest.TestCase):
    def test_a_rank_that_waits_too_long_says_so_once_and_in_which_step(self):
        said, wait = [], waiting.Wait(3, 1, waiting.Board(3, 1, False, None))
        wait._say = said.append
        wait.begin(step=5)
        while not said:
            time.sleep(0.05)
        wait.end()
        self.assertEqual(len(said), 1)
        self.assertIn("for the other ranks in step 5", said[0])


def environment_of_scripts():
    of_this_job = ("OMPI_COMM", "OMPI_MCA_orte", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_APP", "OMPI_FIRST", "OMPI_NUM_APP", "OMPI_UNIVERSE",
                   "PMIX_")
    return {name: value for name, value in os.environ.items() if not name.startswith(of_this_job)}


class Script(unittest.TestCase):
    """Runs whole scripts on ranks of their own: rank 0 of this test starts them."""

    def setUp(self):
        if RANK != 0:
            self.skipTest("rank 0 starts the scripts")

    @classmethod
    def setUpClass(cls):
        if RANK == 0:
            folder = tempfile.TemporaryDirectory()
            cls.addClassCleanup(folder.cleanup)
            cls.socket = folder.name + "/ranks"
            server = subprocess.Popen([sys.executable, RANK_STARTER, "serve", cls.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=environment_of_scripts())
            server.stdout.readline()
            cls.addClassCleanup(server.communicate)

    def run_script(self, text, ranks=2, timeout=300, reports="", forked=True):
        """reports: prefix of the files for the reports of the ranks, as in a run of dtctl. forked: ranks need not import torch."""
        module = str(pathlib.Path(sync.__file__).parents[1])
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(textwrap.dedent(SCRIPT.format(module=module, reports=reports)) + textwrap.dedent(text))
            script.flush()
            program = ["-S", RANK_STARTER, self.socket] if forked else []
            return subprocess.run(["mpirun", "--oversubscribe", "-np", str(ranks), sys.executable, *program, script.name],
                                  env=environment_of_scripts(), text=True, capture_output=True, timeout=timeout)

    def check(self, text, **options):
        done = self.run_script(text, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuse(self, text, expected=None, **options):
        done = self.run_script(text, **options)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        if expected:
            self.assertRegex(done.stderr, expected)


class Scripts(Script):
    def test_an_ordinary_loop(self):
        """Clipping, a scheduler, accumulation and an evaluation in a script's own loop."""
        for strategy in ("sync-sgd", "local-sgd", "easgd", "decentralized-easgd"):
            rule = "sgd" if strategy != "sync-sgd" else "momentum"
            self.check(f"""
                optimizer.param_groups[0]["momentum"] = {0.9 if rule == "momentum" else 0.0}
                model, optimizer = sync.prepare(model, optimizer, strategy={strategy!r})
                scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
                for epoch in range(10):
                    for x_part, y_part in sync.batches(loader):
                        optimizer.zero_grad(set_to_none=epoch % 2 == 0)
                        with sync.no_sync():
                            (nn.functional.cross_entropy(model(x_part[:4]), y_part[:4]) / 2).backward()
                        loss = nn.functional.cross_entropy(model(x_part[4:]), y_part[4:]) / 2
                        loss.backward()
                        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                        optimizer.step()
                        scheduler.step()
                with sync.training().evaluation():
                    accuracy = (model(x).argmax(1) == y).float().mean().item()
                assert accuracy > 0.8, accuracy
                """)

    def test_an_ordinary_loop_with_a_scaler_that_leaves_a_step_out(self):
        """In place of torch's, which works with CUDA only."""
        self.check("""
            class Scaler:
                def scale(self, loss): return 8 * loss
                def step(self, optimizer):
                    if number % 3 != 0:
                        for p in model.parameters(): p.grad /= 8
                        optimizer.step()
            scaler = Scaler()
            model, optimizer = sync.prepare(model, optimizer, scaler=scaler, strategy="sync-sgd")
            for epoch in range(10):
                for number, (a, b) in enumerate(sync.batches(loader)):
                    optimizer.zero_grad()
                    before = model[0].weight.clone()
                    loss = nn.functional.cross_entropy(model(a), b)
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    assert torch.equal(before, model[0].weight) == (number % 3 == 0)
                    assert abs(sync.training().mean_loss - sync.training().mean(float(loss))[0]) < 1e-5
            assert (model(x).argmax(1) == y).float().mean() > 0.8
            """)

    def test_an_ordinary_loop_with_autograd_backward(self):
        self.check("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            for a, b in sync.batches(loader):
                optimizer.zero_grad()
                torch.autograd.backward([nn.functional.cross_entropy(model(a), b)])
                optimizer.step()
            """)

    def test_the_ordinary_loop_and_the_closure_give_the_same_weights(self):
        closure = self.check("""
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                for _ in range(3):
                    for a, b in training.batches(loader):
                        training.step(lambda: nn.functional.cross_entropy(model(a), b), before_update=lambda: nn.utils.clip_grad_norm_(model.parameters(), 1.0))
            if rank == 0: print(sum(p.double().sum().item() for p in model.parameters()))
            """)
        ordinary = self.check("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            for _ in range(3):
                for a, b in sync.batches(loader):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(a), b).backward()
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
            if rank == 0: print(sum(p.double().sum().item() for p in model.parameters()))
            """)
        self.assertEqual(closure.stdout, ordinary.stdout)

    def test_a_rank_that_raises_ends_the_others(self):
        self.refuse("""
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                for number, (a, b) in enumerate(training.batches(loader)):
                    def closure():
                        if rank == 1 and number == 3:
                            raise ValueError("no such label")
                        return nn.functional.cross_entropy(model(a), b)
                    training.step(closure)
            """, "ValueError: no such label")

    def test_a_rank_that_raises_in_an_ordinary_loop_ends_the_others(self):
        self.refuse("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            for number, (a, b) in enumerate(sync.batches(loader)):
                optimizer.zero_grad()
                if rank == 1 and number == 3:
                    raise ValueError("no such label")
                nn.functional.cross_entropy(model(a), b).backward()
                optimizer.step()
            """, "ValueError: no such label")

    def test_an_interrupt_ends_the_script(self):
        """As Ctrl-C would, in the closure, between two steps, and on one rank only."""
        for place in ("closure", "between"):
            self.refuse(f"""
                with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                    for number in range(1000000):
                        def closure():
                            if {place!r} == "closure" and rank == 1 and number == 3:
                                os.kill(os.getpid(), signal.SIGINT)
                            return nn.functional.cross_entropy(model(x), y)
                        training.step(closure, samples=96)
                        if {place!r} == "between" and rank == 1 and number == 3:
                            os.kill(os.getpid(), signal.SIGINT)
                """, "KeyboardInterrupt")

    def test_an_interrupt_of_mpirun_while_a_rank_waits_for_others(self):
        self.refuse("""
            import threading, time
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                def closure():
                    if rank == 1:
                        time.sleep(1)
                        os.kill(os.getppid(), signal.SIGINT)
                        time.sleep(600)
                    return nn.functional.cross_entropy(model(x), y)
                training.step(closure, samples=96)
            """, forked=False)

    def test_a_second_backward_pass_without_no_sync(self):
        self.refuse("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            optimizer.zero_grad()
            for _ in range(2):
                nn.functional.cross_entropy(model(x), y).backward()
            """, r"a second backward pass began before optimizer.step\(\)")

    def test_a_model_that_was_moved_in_an_ordinary_loop(self):
        self.refuse("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            model.double()
            nn.functional.cross_entropy(model(x.double()), y).backward()
            optimizer.step()
            """, "lies elsewhere|type")

    def test_a_model_that_was_moved(self):
        self.refuse("""
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                model[0].weight.data = model[0].weight.data.clone()
                training.step(lambda: nn.functional.cross_entropy(model(x), y))
            """, "the parameter 0.weight lies elsewhere")

    def test_a_model_that_exchanges_by_itself(self):
        parallel = "wrapped = nn.parallel.DistributedDataParallel(model)"
        prepare = "sync.prepare({0}, torch.optim.SGD({0}.parameters(), lr=0.1), strategy='local-sgd')"
        for lines in ([parallel, prepare.format("wrapped")], [prepare.format("model"), parallel]):
            with tempfile.TemporaryDirectory() as folder:
                begin = f"torch.distributed.init_process_group('gloo', 'file://{folder}/meeting', world_size=2, rank=int(os.environ['OMPI_COMM_WORLD_RANK']))"
                self.refuse("\n".join(["import os", begin, *lines]), "DistributedDataParallel exchanges gradients in each step")

    def test_layers_that_are_thawed(self):
        self.refuse("""
            model[0].requires_grad_(False)
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                training.step(lambda: nn.functional.cross_entropy(model(x), y))
                model[0].requires_grad_(True)
                training.step(lambda: nn.functional.cross_entropy(model(x), y))
            """, "was frozen at the start of the training")

    def test_a_step_after_one_that_failed(self):
        self.refuse("""
            training = sync.Training(model, optimizer, strategy="sync-sgd")
            for _ in range(2):
                try:
                    training.step(lambda: nn.functional.cross_entropy(model(x), y[:5]))
                except ValueError:
                    pass
            """, "earlier step of this rank has failed")

    def test_models_that_cannot_be_trained(self):
        for change, expected in {
            "model = nn.Linear(6, 3 + rank)": "ranks have different models",
            "model.requires_grad_(False)": "no parameters that require gradients",
            "model.bfloat16()": "bfloat16.*autocast",
            "model[0].double()": "several types or devices",
            "outside = nn.Linear(2, 2); model.parameters = lambda: [*nn.Sequential.parameters(model), *outside.parameters()]": "not the model's",
        }.items():
            self.refuse(f"""
                {change}
                sync.Training(model, torch.optim.SGD(model.parameters(), lr=0.1), strategy="local-sgd")
                """, expected)

    def test_optimizer_step_without_a_backward_pass(self):
        self.refuse("""
            model, optimizer = sync.prepare(model, optimizer, strategy="sync-sgd")
            optimizer.step()
            """, "without a backward pass")

    def test_without_mpirun_a_script_is_one_process(self):
        with contextlib.suppress(KeyError):
            self.check("""
                with sync.Training(model, optimizer, strategy="decentralized-easgd") as training:
                    for a, b in training.batches(loader):
                        training.step(lambda: nn.functional.cross_entropy(model(a), b))
                    assert training.step_number == 12, training.step_number
                """, ranks=1)

    def test_a_grad_scaler_of_torch(self):
        """It works with CUDA only; on a machine without it is not enabled."""
        self.check("""
            scaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
            device = "cuda" if torch.cuda.is_available() else "cpu"
            model.to(device)
            with sync.Training(model, optimizer, strategy="sync-sgd") as training:
                for a, b in training.batches(loader):
                    training.step(lambda: nn.functional.cross_entropy(model(a.to(device)), b.to(device)), scaler=scaler)
            """)


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=2 if RANK == 0 else 0)
    sys.stdout.flush()
    sys.exit(0 if program.result.wasSuccessful() else 1)
