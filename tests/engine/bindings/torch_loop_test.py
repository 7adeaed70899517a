"""Ordinary loops under dtctl_sync that leave early, divide data in unusual ways or change what they train. Starts each script with mpirun:

    /usr/bin/python3 tests/engine/bindings/torch_loop_test.py
"""
import collections
import json
import pathlib
import re
import tempfile
import unittest

import torch_test

ROOT = pathlib.Path(__file__).resolve().parents[3]
STRATEGIES = re.findall(r'\.name =\s*\{"([a-z-]+)"', (ROOT / "core/spec/strategy_table.cpp").read_text())
EPOCHS = """
    def train(a, b):
        optimizer.zero_grad(); nn.functional.cross_entropy(model(a), b).backward(); optimizer.step()
    model, optimizer = sync.prepare(model, optimizer{settings})
    training = sync.training()
"""
REMEDY = "all ranks must make equally many steps"


class Loop(torch_test.Script):
    def script(self, text, strategy="sync-sgd", **settings):
        words = "".join(f", {name}={value!r}" for name, value in {"strategy": strategy, **settings}.items())
        return torch_test.textwrap.dedent(EPOCHS.format(settings=words)) + torch_test.textwrap.dedent(text)

    def ends(self, text, expected, ranks=2, **settings):
        done = self.run_script(self.script(text, **settings), ranks=ranks)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stderr, expected)

    def passes(self, text, ranks=2, reports="", **settings):
        """Returns the numbers that each rank has printed last, by rank."""
        done = self.run_script(self.script(torch_test.textwrap.dedent(text) + "\nsys.stdout.write(' '.join(map(str, ['found', rank, *found])) + chr(10))", **settings), ranks=ranks, reports=reports)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {int(rank): [float(word) for word in words.split()] for rank, words in re.findall(r"found (\d+) ?([^\n]*)", done.stdout)}
        self.assertEqual(sorted(found), list(range(ranks)), done.stdout)
        return found, done.stderr

    def reports_of(self, text, ranks=2, **settings):
        """The lines of the ranks' reports: tag -> words of each, by rank."""
        with tempfile.TemporaryDirectory() as folder:
            self.passes(torch_test.textwrap.dedent(text) + "\nfound = []", ranks=ranks, reports=folder + "/", **settings)
            found = []
            for rank in range(ranks):
                lines = collections.defaultdict(list)
                for line in pathlib.Path(folder, str(rank)).read_text().splitlines():
                    tag, _, rest = line.partition(" ")
                    lines[tag].append(rest)
                found.append(lines)
            return found


class EveryStrategy(Loop):
    def test_trains_an_ordinary_loop_to_its_end_on_two_and_three_ranks(self):
        self.assertGreater(len(STRATEGIES), 10)
        for strategy in STRATEGIES:
            for ranks in (2, 3):
                with self.subTest(strategy=strategy, ranks=ranks):
                    found, _ = self.passes("""
                        for epoch in range(2):
                            for a, b in sync.batches(loader): train(a, b)
                            with training.evaluation(): model(x)
                        found = [training.step_number, training.workers]
                        """, ranks=ranks, strategy=strategy)
                    self.assertEqual({tuple(each) for each in found.values()}, {(2 * (12 // found[0][1]), found[0][1])})

    def test_ends_with_a_cause_when_one_rank_leaves(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                self.ends("""
                    for epoch in range(100):
                        for number, (a, b) in enumerate(sync.batches(loader)):
                            train(a, b)
                            if rank == 0 and epoch == 1 and number == 1: sys.exit(0)
                    """, r"rank 0 has ended its training after step \d+, but rank [12]", ranks=3, strategy=strategy)


class Leaving(Loop):
    def test_is_told_with_who_left_and_in_which_step(self):
        loop = "for epoch in range(3):\n    for number, (a, b) in enumerate(sync.batches(loader)):\n        "
        interrupt = "train(a, b)\n        if rank == 0 and number == 2: os.kill(os.getpid(), signal.SIGINT)"
        for name, (text, expected) in {
            "break": (loop + "train(a, b)\n        if rank == 0 and epoch == 1 and number == 2: break", "rank 0 begins an epoch of 6 steps after step 9"),
            "a batch left out": (loop + "if rank == 1 and epoch == 0 and number == 2: continue\n        train(a, b)", "rank 1 begins an epoch of 6 steps after step 5"),
            "a loss that is NaN": (loop + "loss = nn.functional.cross_entropy(model(a), b) * (float('nan') if rank == 1 and epoch + number == 0 else 1)\n"
                                   "        if loss != loss: continue\n        optimizer.zero_grad(); loss.backward(); optimizer.step()", "rank 1 begins an epoch of 6 steps after step 5"),
            "an epoch more": ("for epoch in range(2 + (rank == 0)):\n    for a, b in sync.batches(loader): train(a, b)", "rank 1 has ended its training after step 12"),
            "an evaluation alone": (loop + "train(a, b)\n    if rank == 0:\n        with training.evaluation(): pass", r"rank 0 enters evaluation\(\) after step 6"),
            "an error that is caught": (loop + "try:\n            if rank == 0 and number == 2: raise ValueError()\n            train(a, b)\n        except ValueError: pass",
                                        "rank 0 begins an epoch of 6 steps after step 5"),
            "an interrupt that is caught": ("try:\n    " + (loop + interrupt).replace("\n", "\n    ") + "\nexcept KeyboardInterrupt: pass", "rank 0 has ended its training after step 3"),
        }.items():
            with self.subTest(name):
                self.ends(text, expected + "(.|\n)*" + REMEDY)

    def test_between_backward_and_step_is_told(self):
        self.ends("""
            for number, (a, b) in enumerate(sync.batches(loader)):
                optimizer.zero_grad(); nn.functional.cross_entropy(model(a), b).backward()
                if number == 3: break
                optimizer.step()
            """, r"ends its training between backward\(\) and optimizer.step\(\) of step 4")

    def test_a_backward_pass_that_failed_ends_all(self):
        self.ends("""
            class Bad(torch.autograd.Function):
                @staticmethod
                def forward(context, x): return x.clone()
                @staticmethod
                def backward(context, gradient):
                    if rank == 0 and training.step_number == 3: raise RuntimeError("out of memory")
                    return gradient
            for a, b in sync.batches(loader):
                try:
                    optimizer.zero_grad(); nn.functional.cross_entropy(model[2](Bad.apply(model[:2](a))), b).backward(); optimizer.step()
                except RuntimeError: pass
            """, "a backward pass of step 4 has failed on rank 0")

    def test_together_is_no_error(self):
        found, _ = self.passes("""
            for epoch in range(2):
                for number, (a, b) in enumerate(sync.batches(loader)):
                    train(a, b)
                    if number == 2: break
            found = [training.step_number]
            """)
        self.assertEqual(found, {0: [6], 1: [6]})

    def test_beside_a_server_says_what_to_do(self):
        self.ends("""
            for number, (a, b) in enumerate(sync.batches(loader)):
                train(a, b)
                if number == 2: break
            """, r"rank \d has ended its training after step 3(.|\n)*batches\(loader, steps=", strategy="async-easgd")


class Server(Loop):
    def test_makes_as_many_steps_as_its_one_worker_has_batches(self):
        for strategy in ("async-sgd", "async-easgd"):
            found, _ = self.passes("""
                data = torch.utils.data.TensorDataset(x, y)
                for _ in range(2):
                    for a, b in sync.batches(torch.utils.data.DataLoader(data, 20, shuffle=True)): train(a, b)
                found = [training.step_number]
                """, strategy=strategy)
            self.assertEqual(found, {0: [10], 1: [10]})  # 96 samples: the last batch has 16

    def test_follows_a_loader_without_a_length_if_the_script_says_how_many_steps(self):
        loop = """
            class Stream(torch.utils.data.IterableDataset):
                def __iter__(self): return zip(x, y)
            for a, b in sync.batches(torch.utils.data.DataLoader(Stream(), 8){steps}): train(a, b)
            found = [training.step_number]
            """
        for ranks in (2, 3):
            self.assertEqual(set(map(tuple, self.passes(loop.format(steps=", steps=15"), ranks=ranks, strategy="async-sgd")[0].values())), {(15,)})
        self.ends(loop.format(steps=""), "a parameter server must know the number of steps", strategy="async-sgd")

    def test_leaves_a_loop_without_an_end_with_its_workers(self):
        for strategy in ("async-sgd", "async-easgd"):
            found, said = self.passes("""
                sys.stdout.write('found %d 0' % rank + chr(10))  # a server's script ends in its loop
                batches, number = iter(sync.batches(loader, steps=4)), 0
                while number < 8:
                    try: a, b = next(batches)
                    except StopIteration: batches = iter(sync.batches(loader, steps=4))
                    else: train(a, b); number += 1
                found = [training.step_number]
                """, ranks=3, strategy=strategy)
            self.assertEqual(sorted(found.values()), [[0], [8], [8]])
            self.assertRegex(said, r"rank \d is a parameter server, and ends with its workers")

    def test_outside_of_batches_is_refused_at_its_first_pass(self):
        for text in ("train(x, y)", "optimizer.step()", "with sync.no_sync(): model(x).mean().backward()", "torch.autograd.backward([model(x).mean()])"):
            with self.subTest(text):
                self.ends(f"if training.worker < 0: {text}" if "with" not in text else f"if training.worker < 0:\n    {text}",
                          "rank 1 is a parameter server, which has no batches", strategy="async-easgd")


class Data(Loop):
    SEEN = """
            total = torch.tensor(training.mean(*seen.tolist())) * training.workers
            found = [int((total == 0).sum()), int((total > 1).sum())]
            """
    LOOP = """
            data = torch.utils.data.TensorDataset(x, torch.arange(96))
            seen = torch.zeros(96)
            torch.manual_seed(100 + rank)
            loader = torch.utils.data.DataLoader(data, {loader})
            for epoch in range(2):
                seen.zero_()
                for a, i in sync.batches(loader): train(a, y[i]); seen[i] += 1
        """

    def test_of_samplers_with_seeds_of_each_rank_is_neither_lost_nor_doubled(self):
        weighted = "8, sampler=torch.utils.data.WeightedRandomSampler(torch.ones(96), 96, replacement=False)"
        lists = "batch_sampler=torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 8, False)"
        one_by_one = "batch_size=None, sampler=torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 8, False)"
        for loader in (weighted, lists, one_by_one, "8, shuffle=True"):
            with self.subTest(loader):
                self.assertEqual(self.passes(self.LOOP.format(loader=loader) + self.SEEN)[0], {0: [0, 0], 1: [0, 0]})

    def test_of_a_sampler_that_draws_without_an_end_is_drawn_as_it_goes(self):
        endless = "torch.utils.data.RandomSampler(data, replacement=True, num_samples=10**10)"
        for seed in (1, "100 + rank"):  # drawn alike on all ranks, or independently
            for strategy in ("sync-sgd", "async-sgd"):
                with self.subTest(seed=seed, strategy=strategy):
                    found, _ = self.passes(f"""
                        data = torch.utils.data.TensorDataset(x, torch.arange(96))
                        torch.manual_seed({seed})
                        found = []
                        for a, i in sync.batches(torch.utils.data.DataLoader(data, 8, sampler={endless}), steps=4): train(a, y[i]); found += i.tolist()
                        """, ranks=2 if strategy == "sync-sgd" else 3, strategy=strategy)
                    self.assertNotEqual(found[0], found[1])
                    self.assertEqual(len(found[0]), 32)

    def test_of_a_sampler_that_divides_it_is_not_divided_again(self):
        sampler = "8, sampler=list(range(rank, 96, 2))"
        self.assertEqual(self.passes(self.LOOP.format(loader=sampler) + self.SEEN)[0], {0: [0, 0], 1: [0, 0]})

    def test_of_an_iterable_that_divides_it_is_not_divided_again(self):
        stream = """
            class Stream(torch.utils.data.IterableDataset):
                def __iter__(self): return iter([(x[i], i) for i in range({first}, 96, {step})])
            seen = torch.zeros(96)
            for a, i in sync.batches(torch.utils.data.DataLoader(Stream(), 8){more}): train(a, y[i]); seen[i] += 1
            """
        for first, step, more, is_told in (("rank", 2, "", True), ("rank", 2, ", mine=True", False), (0, 1, "", False), (0, 1, ", mine=False", False)):
            with self.subTest(first=first, more=more):
                found, said = self.passes(stream.format(first=first, step=step, more=more) + self.SEEN)
                self.assertEqual(found, {0: [0, 0], 1: [0, 0]})
                self.assertEqual("say batches(loader, mine=True)" in said, is_told)

    def test_of_own_parts_ends_with_the_shortest_one(self):
        for parts in ("[(x[:8], y[:8])] * (5 + 3 * rank)", "iter([(x[:8], y[:8])] * (5 + 3 * rank))"):
            found, _ = self.passes(f"""
                for a, b in sync.batches({parts}, mine=True): train(a + rank, b)
                found = [training.step_number]
                """)
            self.assertEqual(found, {0: [5], 1: [5]})

    def test_that_differs_from_rank_to_rank_is_refused_with_the_remedy(self):
        for data in ("torch.utils.data.Subset(whole, range(rank, 96, 2))", "torch.utils.data.TensorDataset(x[rank::2], y[rank::2])",
                     "torch.utils.data.random_split(whole, [90, 6], torch.Generator().manual_seed(rank))[0]"):
            with self.subTest(data):
                self.ends(f"""
                    whole = torch.utils.data.TensorDataset(x, y)
                    for a, b in sync.batches(torch.utils.data.DataLoader({data}, 8)): train(a, b)
                    """, r"the workers have different data sets(.|\n)*mine=True")

    def test_without_a_batch_for_a_worker_is_refused(self):
        for loader in ("torch.utils.data.DataLoader(data, 64, shuffle=True)", "torch.utils.data.DataLoader(data, 64, drop_last=True)", "[]", "iter([])"):
            with self.subTest(loader):
                self.ends(f"""
                    data = torch.utils.data.TensorDataset(x, y)
                    for a, b in sync.batches({loader}): train(a, b)
                    """, "the loader has no batch for worker 0 of 2")

    def test_of_an_evaluation_is_divided_without_steps(self):
        for strategy, ranks in (("sync-sgd", 2), ("async-sgd", 3)):
            found, _ = self.passes("""
                for epoch in range(2):
                    for a, b in sync.batches(loader): train(a, b)
                    count = 0
                    with training.evaluation():
                        for a, b in sync.batches(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:91], y[:91]), 8)): count += len(model(a))
                    count = training.mean(count)[0] * training.workers
                found = [training.step_number, count]
                """, ranks=ranks, strategy=strategy)
            self.assertEqual(set(map(tuple, found.values())), {(12, 91)})

    def test_that_is_the_same_on_every_rank_is_told(self):
        loops = {
            "for _ in range(5): train(x[:8], y[:8])": True,
            "generator = torch.Generator().manual_seed(5)\nfor _ in range(5):\n    i = torch.randint(0, 96, (8,), generator=generator); train(x[i], y[i])": True,
            "for _ in range(5): train(x[rank * 8:rank * 8 + 8], y[:8])": False,
            "for a, b in sync.batches(loader): train(a, b)": False,
            "for a, b in sync.batches([(x[i:i + 8], y[i:i + 8]) for i in range(0, 96, 8)], mine=True): train(a, b)": True,
        }
        for loop, is_told in loops.items():
            for strategy in ("sync-sgd", "local-sgd"):
                with self.subTest(loop, strategy=strategy):
                    caveats = self.reports_of(loop, strategy=strategy)[0]["caveat"]
                    self.assertEqual([each.split("\t")[0] for each in caveats], ["copies"] if is_told else [], caveats)


class Parameters(Loop):
    def test_without_a_gradient_on_any_rank_are_left_alone(self):
        for strategy, rule, more in (("sync-sgd", "AdamW", "progress='none'"), ("sync-sgd", "AdamW", "allreduce='ring', progress='poll'"), ("hsgd", "AdamW", ""),
                                     ("local-sgd", "AdamW", ""), ("diloco", "AdamW", ""), ("async-sgd", "SGD", ""), ("async-msgd", "SGD", "")):
            with self.subTest(strategy, more=more):
                settings = "lr=0.01, weight_decay=0.5" + (", momentum=0.9" if strategy == "async-msgd" else "")
                done = self.check(f"""
                    model = nn.ModuleDict({{"used": nn.Linear(6, 3), "unused": nn.Linear(4, 4)}})
                    optimizer = torch.optim.{rule}(model.parameters(), {settings})
                    sync.prepare(model, optimizer, strategy={strategy!r}, {more})
                    before = [p.clone() for p in model.parameters()]
                    for a, b in sync.batches(loader):
                        optimizer.zero_grad(); nn.functional.cross_entropy(model["used"](a), b).backward(); optimizer.step()
                    with sync.training().evaluation():
                        same = [torch.equal(p, q) for p, q in zip(before, model.parameters())]
                    assert same == [False, False, True, True], same
                    assert model["unused"].weight.grad is None
                    """, ranks=3 if "async" in strategy else 2)
                self.assertEqual(done.returncode, 0)

    def test_that_are_used_in_some_steps_or_on_some_ranks_move_as_those_of_one_process(self):
        text = """
            model = nn.ModuleDict({"both": nn.Linear(6, 3), "even": nn.Linear(6, 3), "first": nn.Linear(6, 3)}).double().float()
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
            if %(syncs)s: sync.prepare(model, optimizer, strategy="sync-sgd")
            def out(which, a, number):
                found = model["both"](a)
                if number %% 2 == 0: found = found + model["even"](a)
                return found + model["first"](a) if which == 0 else found
            for number in range(6):
                optimizer.zero_grad(set_to_none=%(to_none)s)
                losses = [nn.functional.cross_entropy(out(which, x[which::2], number), y[which::2]) for which in (%(parts)s)]
                (sum(losses) / len(losses)).backward()
                optimizer.step()
            sys.stdout.write("sum " + str([float(p.double().sum()) for p in model.parameters()]) + chr(10))
            """
        for to_none in (True, False):
            sums = []
            for syncs, parts, ranks in ((False, "0, 1", 1), (True, "rank,", 2)):
                done = self.check(text % {"syncs": syncs, "parts": parts, "to_none": to_none}, ranks=ranks)
                sums += [json.loads(each) for each in re.findall(r"sum (\[[^\]]*\])", done.stdout)]
            self.assertEqual(len(sums), 3)
            for each in sums[1:]:
                for a, b in zip(each, sums[0]):
                    self.assertAlmostEqual(a, b, delta=2e-5, msg=f"to_none={to_none}")

    def test_that_are_new_are_refused_with_their_names(self):
        for change, expected in {
            "model.append(nn.Linear(3, 3)); optimizer.add_param_group({'params': model[3].parameters()})": "3.weight, 3.bias",
            "model.head = nn.Linear(3, 3)": "head.weight, head.bias",
            "model[2] = nn.Linear(20, 3)": "2.weight, 2.bias",
            "model[2].weight = nn.Parameter(torch.zeros(3, 20))": "2.weight",
            "optimizer.add_param_group({'params': [nn.Parameter(torch.zeros(7))]})": r"of shape \(7,\)",
        }.items():
            with self.subTest(change):
                self.ends(f"""
                    for number, (a, b) in enumerate(sync.batches(loader)):
                        if number == 2: {change}
                        train(a, b)
                    """, r"parameters were added or replaced after prepare\(\) \(" + expected)

    def test_with_sparse_gradients_are_refused_at_the_begin(self):
        self.refuse("""
            model = nn.ModuleDict({"words": nn.Embedding(10, 3, sparse=True), "head": nn.Linear(3, 3)})
            sync.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
            """, "the layer words has sparse gradients")

    def test_of_another_optimizer_are_refused(self):
        self.refuse("""
            other = nn.Linear(6, 1)
            second = torch.optim.Adam(other.parameters())
            sync.prepare(model, optimizer)
            for a, b in sync.batches(loader):
                other(a).mean().backward(); second.step()
            """, r"an optimizer that prepare\(\) was not given makes a step")

    def test_of_several_models_move_as_those_of_one_process(self):
        text = """
            critic = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)); maker = nn.Linear(2, 6)
            of_critic, of_maker = torch.optim.AdamW(critic.parameters(), lr=0.01), torch.optim.SGD(maker.parameters(), lr=0.1, momentum=0.9)
            if %(syncs)s:
                models, rules = sync.prepare({"maker": maker, "critic": critic}, {"maker": of_maker, "critic": of_critic}, strategy="sync-sgd",
                                             allreduce="ring", progress=%(progress)r)
                assert models["maker"] is maker and rules["critic"] is of_critic
            noise = torch.randn(96, 2)
            for number in range(6):
                for _ in range(2):
                    critic.zero_grad(); critic(x[%(part)s]).mean().backward(); (-critic(maker(noise[%(part)s]).detach()).mean() / 2).backward(); of_critic.step()
                maker.zero_grad(); critic(maker(noise[%(part)s])).pow(2).mean().backward(); of_maker.step()
            sys.stdout.write("sum " + str([float(p.double().sum()) for m in (maker, critic) for p in m.parameters()]) + chr(10))
            """
        sums = []
        for progress, part, ranks in (("", "::", 1), ("none", "rank::2", 2), ("poll", "rank::2", 2)):
            done = self.check(text % {"syncs": bool(progress), "part": part, "progress": progress}, ranks=ranks)
            sums += [json.loads(each) for each in re.findall(r"sum (\[[^\]]*\])", done.stdout)]
        self.assertEqual(len(sums), 5)
        for each in sums[1:]:
            for a, b in zip(each, sums[0]):
                self.assertAlmostEqual(a, b, delta=2e-5)

    def test_that_drift_apart_are_told(self):
        for change, expected in {
            "optimizer.param_groups[0]['lr'] *= 0.5 + rank": "after step 3 the learning rate of worker 0 is",
            "model[0].weight.data += 0.1 * rank": "after step 3 the workers' weights are",
            "[p.grad.add_(rank * torch.ones_like(p)) for p in model.parameters()]": "after step 3 the workers' weights are",
        }.items():
            with self.subTest(change):
                caveats = self.reports_of(f"""
                    for number, (a, b) in enumerate(sync.batches(loader)):
                        optimizer.zero_grad(); nn.functional.cross_entropy(model(a), b).backward()
                        if number == 1: {change}
                        optimizer.step()
                    """)[0]["caveat"]
                self.assertRegex("\n".join(caveats), "replicas\t" + expected)


class Reports(Loop):
    def test_a_step_has_all_its_batches_and_what_is_no_phase_lies_outside(self):
        text = """
            import time
            class Slow(nn.Module):
                def forward(self, a): time.sleep(0.03); return a
            model.append(Slow())
            for number, (a, b) in enumerate(sync.batches(loader)):
                time.sleep(0.02)  # a copy to the device
                last = number % 3 == 2
                with contextlib.nullcontext() if last else sync.no_sync():
                    (nn.functional.cross_entropy(model(a), b) / 3).backward()
                if last:
                    time.sleep(0.2)  # a plot
                    optimizer.step(); optimizer.zero_grad()
                    time.sleep(0.2)
            """
        for report in self.reports_of("import contextlib\n" + torch_test.textwrap.dedent(text)):
            steps = [line.split() for line in report["step"]]
            self.assertEqual([step[3] for step in steps], ["24.0", "24.0"])
            for step in steps:
                input_s, forward, backward, communication, update = map(float, step[7:])
                self.assertGreater(input_s, 0.06)
                self.assertGreater(forward, 0.09)
            step_s, phases_s = float(steps[1][2]), sum(map(float, steps[1][7:]))
            self.assertGreater(step_s - phases_s, 0.3)

    def test_samples_of_a_loop_without_a_loader_are_those_that_its_model_gets(self):
        for line in self.reports_of("for i in range(4): train(x[i + rank:i + rank + 7], y[:7])")[1]["step"]:
            self.assertEqual(line.split()[3], "7.0")

    def test_the_operations_of_a_sample_are_counted(self):
        report = self.reports_of("for _ in range(2):\n    for a, b in sync.batches(loader): train(a, b)")[0]
        expected = 2 * (6 * 20 * 2 + 20 * 3 * 3)  # nothing is derived by the inputs
        self.assertEqual(float(report["flops"][0].split()[0]), expected)

    def test_several_optimizers_make_one_step_of_a_batch(self):
        text = """
            first, second = torch.optim.SGD(model[0].parameters(), lr=0.1), torch.optim.SGD(model[2].parameters(), lr=0.1)
            sync.prepare(model, [first, second], strategy="sync-sgd")
            for a, b in sync.batches(loader):
                nn.functional.cross_entropy(model(a), b).backward(); first.step(); second.step(); first.zero_grad(); second.zero_grad()
            """
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script(text, reports=folder + "/")
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = [line.split() for line in pathlib.Path(folder, "0").read_text().splitlines() if line.startswith("step ")]
        self.assertEqual([(step[1], step[4]) for step in steps], [(str(i), "8.0") for i in range(1, 7)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
