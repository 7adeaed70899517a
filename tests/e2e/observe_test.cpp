// PyTorch scripts that nobody changed, observed from outside (share/dtctl/program/dtctl_observe): ordinary loops, from a recipe
// that only names the command to the record. What is asserted are counts, never times.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/trace_record.hpp"
#include "core/record/event_record.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::Json;
using dt::test::Own;
using dt::test::python;
using dt::test::result_of;

namespace {

// What all scripts begin with: 320 samples for the training, 80 for evaluations.
const std::string prelude = R"(
import sys
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.randn(400, 20)
y = (x.sum(1) > 0).long()
train, test = TensorDataset(x[:320], y[:320]), TensorDataset(x[320:], y[320:])
model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train_on(a, b):
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
)";

const std::string plain_loop = R"(
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
)";

// A recipe that only names the command, and how many ranks there are.
std::string recipe(int ranks = 1, const std::string& program = "")
{
  return "version: 1\nname: own\nprogram:\n  command: [" + python() + ", train.py]\n  files: [train.py]\n" + program +
         "train: {warmup_steps: 4}\nresources: {ranks_per_node: " + std::to_string(ranks) + "}\n";
}

double seconds_of(const dt::RunResult& result, dt::Phase phase, std::size_t rank = 0)
{
  return result.ranks.at(rank).phases[static_cast<std::size_t>(phase)].total_s;
}

// Whether forward, backward, update and input were seen in every measured step.
void check_computation(const dt::RunResult& result)
{
  for (const auto phase : {dt::Phase::input, dt::Phase::forward, dt::Phase::backward, dt::Phase::optimizer})
    for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) CHECK(seconds_of(result, phase, rank) > 0);
  CHECK(result.work.useful_s > 0);
}

// Scripts of these names that run side by side.
struct Observed : dt::test::Programs {
  explicit Observed(const std::map<std::string, std::string>& scripts) : Programs(scripts, "train: {warmup_steps: 4}\n", python())
  {
  }
};

} // namespace

TEST_CASE("observed: a plain loop has steps, samples, loss, parameters and every phase")
{
  if (!has_torch()) return;
  const Own own(prelude + plain_loop, recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  CHECK(result.throughput > 0);
  CHECK(result.parameters == 20 * 16 + 16 + 16 * 2 + 2);
  CHECK(result.final_loss.value_or(9) < 0.7);
  check_computation(result);
  CHECK(result.communication_share == 0); // one rank has nobody to wait for
  CHECK(result.facts.at("observed").starts_with("PyTorch "));
  const auto steps =
      own.dtctl.json({"query", "SELECT count(*) AS n, count(loss) AS losses, max(learning_rate) AS rate FROM steps"});
  CHECK(steps.at("rows")[0].at("losses") == steps.at("rows")[0].at("n"));
  CHECK(steps.at("rows")[0].at("rate") == 0.1);
}

namespace {

// A training in a function, and how it is started in a child or in a thread.
const std::string work = prelude + R"(
def work(*_):
    for epoch in range(2):
        for a, b in DataLoader(train, batch_size=32):
            train_on(a, b)
)";
const std::map<std::string, std::string> starts{
    {"fork", "import torch.multiprocessing as mp\np = mp.get_context('fork').Process(target=work)\np.start()\np.join()\n"},
    {"spawn", R"(
import torch.multiprocessing as mp
if __name__ == "__main__":
    try:
        mp.spawn(work, nprocs=1)
    except Exception as error:
        print("the parent goes on after", type(error).__name__)
)"},
    {"thread", "import threading\nt = threading.Thread(target=work)\nt.start()\nt.join()\n"},
};

const std::string trainer_class = prelude + R"(
class Ahead:  # as the loaders of Accelerate do
    def __init__(self, loader):
        self.loader = loader
    def __iter__(self):
        batches = iter(self.loader)
        batch = next(batches)
        for later in batches:
            yield batch
            batch = later
        yield batch
class Trainer:
    def __init__(self, module):
        self.module, self.optimizer = module, torch.optim.AdamW(module.parameters(), lr=1e-2)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1.0)
    def training_step(self, batch):
        self.module.train()
        loss = F.cross_entropy(self.module(batch[0]), batch[1])
        self.module.zero_grad()
        loss.backward()
        return loss.detach()
    def evaluate(self):
        self.module.eval()
        with torch.no_grad():
            for a, b in Ahead(DataLoader(test, batch_size=20)):
                self.module(a)
    def fit(self, uses_closure):
        self.evaluate()                                            # a sanity check before the training
        for epoch in range(2):
            for i, batch in enumerate(Ahead(DataLoader(train, batch_size=32))):
                if uses_closure:
                    self.optimizer.step(lambda: self.training_step(batch))
                else:
                    self.training_step(batch)
                    self.optimizer.step()
                self.schedule.step()
                if i == 6:
                    self.evaluate()
            self.evaluate()
)";

enum class Input { known, unknown };

struct Loop {
  const char *name, *claim;
  std::string script;
  std::int64_t steps, samples;
  Input input = Input::known;
};

std::vector<Loop> loops()
{
  return {
      {"accumulates", "a step has all batches whose gradients it accumulates", prelude + R"(
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=16)):
        (F.cross_entropy(model(a), b) / 2).backward()
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
)",
       20, 16 * 32},
      {"across", "batches that a step accumulates over an epoch's end are counted", prelude + R"(
seen = 0
for epoch in range(4):
    for a, b in DataLoader(train, batch_size=32):   # 10 batches an epoch, 4 of them a step
        F.cross_entropy(model(a), b).backward()
        seen += 1
        if seen % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
)",
       10, 6 * 4 * 32},
      {"drops", "batches that are read and dropped are not counted", prelude + R"(
for epoch in range(4):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        if i % 2 == 1:
            continue
        train_on(a, b)
)",
       20, 16 * 32},
      {"scaler", "an update that overflows is skipped by the scaler and is still a step", prelude + R"(
class Scaler(torch.cuda.amp.GradScaler):  # skips every fifth update, as one does on a GPU where a gradient overflows
    calls = 0
    def _maybe_skip(self):
        Scaler.calls += 1
        return Scaler.calls % 5 == 0
scaler = Scaler(enabled=False)
inner = optimizer.step
optimizer.step = lambda *args: None if scaler._maybe_skip() else inner(*args)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=32):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(a), b)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
)",
       20, 16 * 32},
      {"gan", "two optimizers that step for the same batch make one step", prelude + R"(
generator = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 20))
judge = nn.Linear(20, 1)
of_generator, of_judge = torch.optim.Adam(generator.parameters()), torch.optim.Adam(judge.parameters())
bce = nn.BCEWithLogitsLoss()
for epoch in range(2):
    for a, _ in DataLoader(train, batch_size=32):
        yes, no = torch.ones(len(a), 1), torch.zeros(len(a), 1)
        of_judge.zero_grad()
        bce(judge(a), yes).backward()
        made = generator(torch.randn(len(a), 8))
        bce(judge(made.detach()), no).backward()
        of_judge.step()
        of_generator.zero_grad()
        bce(judge(made), yes).backward()
        of_generator.step()
)",
       20, 16 * 32},
      {"layers", "layers that are trained one after the other have a step for each update", prelude + R"(
layers = [nn.Linear(20, 20), nn.Linear(20, 20), nn.Linear(20, 20)]
a = torch.randn(32, 20)
for layer in layers:
    own = torch.optim.SGD(layer.parameters(), lr=0.1)
    for i in range(10):
        own.zero_grad()
        layer(a).pow(2).mean().backward()
        own.step()
    a = layer(a).detach()
first, then = (torch.optim.SGD(layer.parameters(), lr=0.1) for layer in layers[:2])
for i in range(5):  # as a GAN: both of them make a step
    for layer, own in zip(layers, (first, then)):
        own.zero_grad()
        layer(a).pow(2).mean().backward()
        own.step()
)",
       35, 31 * 32, Input::unknown},
      {"stream", "an iterable data set has samples, also in its last smaller batch", prelude + R"(
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([train[i] for i in range(300)])
for epoch in range(2):
    for a, b in DataLoader(Stream(), batch_size=32):
        train_on(a, b)
)",
       20, 2 * 300 - 4 * 32},
      {"inference", "a validation under inference_mode within an epoch ends nothing", prelude + R"(
for i, (a, b) in enumerate(DataLoader(train, batch_size=8), 1):
    train_on(a, b)
    if i % 4 == 0:
        with torch.inference_mode():
            for a, b in DataLoader(test, batch_size=20):
                model(a)
)",
       40, 36 * 8},
      {"no_loader", "without a DataLoader the samples are those that the module gets", prelude + R"(
for step in range(20):
    train_on(x[:32], y[:32])
)",
       20, 16 * 32, Input::unknown},
      {"workers", "workers of a DataLoader and forked processes report nothing", prelude + R"(
import os
class Training(torch.utils.data.Dataset):  # its workers train, too
    def __len__(self):
        return 320
    def __getitem__(self, i):
        w = torch.ones(20, requires_grad=True)
        own = torch.optim.SGD([w], lr=0.1)
        (w * x[i]).sum().backward()
        own.step()
        return x[i], y[i]
for epoch in range(2):
    for a, b in DataLoader(Training(), batch_size=32, num_workers=2):
        train_on(a, b)
pid = os.fork()
if pid == 0:
    raise ValueError("of the child alone")
os.waitpid(pid, 0)
)",
       20, 16 * 32},
      {"gradients", "gradients of torch.autograd.grad make steps", prelude + R"(
other = nn.Linear(2, 1)
small = torch.optim.Adam(other.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=32):
        parameters = list(model.parameters())
        loss = F.cross_entropy(model(a), b)
        for p, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
            p.grad = gradient
        optimizer.step()
        small.zero_grad()
        other(model(a).detach()).pow(2).mean().backward()
        small.step()
    schedule.step()
)",
       20, 16 * 32},
      {"evaluates", "evaluations between steps are left out of them", prelude + R"(
def evaluate():
    model.eval()
    with torch.no_grad():
        for a, b in DataLoader(test, batch_size=20):
            model(a)
            torch.randn(1500, 1500) @ torch.randn(1500, 1500)   # longer than all steps
    model.train()
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        train_on(a, b)
        if i == 6:
            evaluate()
    evaluate()
)",
       20, 16 * 32},
      {"no_grad", "what follows a pass without gradients is in no phase", prelude + R"(
import time
for step in range(12):
    train_on(x[:32], y[:32])
    with torch.no_grad():
        model(x[320:])                       # without eval()
    time.sleep(0.05)
)",
       12, 8 * 32, Input::unknown},
      {"trainer", "a trainer class that reads one batch ahead and evaluates has the steps of its loop",
       trainer_class + "Trainer(model).fit(False)\n", 20, 16 * 32},
      {"closure", "the same with steps in a closure", trainer_class + "Trainer(model).fit(True)\n", 20, 16 * 32},
      {"fork", "a training in a forked child is observed", work + starts.at("fork"), 20, 16 * 32},
      {"spawn", "a training in a spawned child is observed", work + starts.at("spawn"), 20, 16 * 32},
      {"thread", "a training in a thread is observed", work + starts.at("thread"), 20, 16 * 32},
  };
}

} // namespace

TEST_CASE("observed: loops of every kind have their steps, samples and phases")
{
  if (!has_torch()) return;
  std::map<std::string, std::string> scripts;
  for (const auto& loop : loops()) scripts[loop.name] = loop.script;
  const Observed observed(scripts);
  CHECK(observed.states() == Json{{"succeeded", scripts.size()}});
  for (const auto& loop : loops()) {
    INFO(loop.name << ": " << loop.claim);
    const auto result = observed.result(loop.name);
    CHECK(result.steps == loop.steps);
    CHECK(result.measured_samples == loop.samples);
    if (loop.input == Input::known)
      check_computation(result);
    else
      CHECK(std::isnan(seconds_of(result, dt::Phase::input)));
    CHECK(seconds_of(result, dt::Phase::backward) > 0);
  }
  const auto evaluations = [&](const char* name) {
    return dt::parse_events(dt::read_file(observed.attempt(name).events())).evals.size();
  };
  for (const auto* name : {"trainer", "closure", "evaluates"}) CHECK(evaluations(name) == 4);
  CHECK(observed.result("accumulates").final_loss.value_or(0) > 0.36); // one half of it is below 0.35
  CHECK(observed.result("scaler").flops.precision == "bf16");
  const auto evaluated = observed.result("evaluates");
  CHECK(seconds_of(evaluated, dt::Phase::evaluation) > evaluated.measured_s);
  CHECK_FALSE(evaluated.accuracy); // nobody told it
  const auto paused = observed.result("no_grad");
  CHECK(paused.measured_s >= 7 * 0.05);
  CHECK(seconds_of(paused, dt::Phase::forward) < paused.measured_s / 2);
  CHECK(observed.result("gradients").facts.at("learning rates") == "SGD 0.1 to 0.05; Adam 0.01");
  double highest_rate = 0;
  for (const auto& step : dt::parse_events(dt::read_file(observed.attempt("gradients").events())).steps)
    highest_rate = std::max(highest_rate, step.learning_rate.value_or(0));
  CHECK(highest_rate == 0.1); // a step's is that of the first optimizer
  for (const auto& [kind, sentence] : observed.result("inference").caveats) {
    INFO(kind << ": " << sentence);
    CHECK(kind == "warm-up"); // of a process that starts on a busy machine
  }
}

TEST_CASE("observed: FLOPs of a sample are those counted by hand, and where they cannot be counted unknown with a reason, never "
          "too few")
{
  if (!has_torch()) return;
  const std::string attention_and_more = R"(
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.set_num_threads(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.frozen = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.Linear(16, 16).requires_grad_(False)
        self.attention, self.head = nn.MultiheadAttention(16, 2, batch_first=True), nn.Linear(8 * 16, 10)
    def forward(self, x):
        tokens = self.frozen(self.conv(x).relu().flatten(2))   # 8 tokens of 16 numbers
        return self.head(self.attention(tokens, tokens, tokens)[0].flatten(1))
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(96, 3, 8, 8), torch.zeros(96).long())
for epoch in range(2):
    for a, b in DataLoader(data, batch_size=16):
        optimizer.zero_grad()
        for half in (slice(0, 8), slice(8, 16)):
            F.cross_entropy(model(a[half]), b[half]).backward()
        optimizer.step()
)";
  const std::string between_evaluations = prelude + R"(
for step in range(20):
    model.train()
    train_on(x[:320], y[:320])
    model.eval()
    with torch.no_grad():
        model(x[320:])
)";
  const std::string own_function = prelude + R"(
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
model.add_module("own", type("Own", (nn.Module,), {"forward": lambda self, a: Product.apply(a)})())
)" + plain_loop;
  const std::string outside_of_modules = prelude + R"(
weights = torch.randn(2, 2, requires_grad=True)
for step in range(20):
    optimizer.zero_grad()
    F.cross_entropy(model(x[:32]) @ weights, y[:32]).backward()
    optimizer.step()
)";
  constexpr double convolution = 2.0 * 8 * 4 * 4 * 3 * 3 * 3 * 2; // no derivative by the images
  constexpr double frozen = 2.0 * 8 * 16 * 16 * 2;                // no derivative by its weights
  constexpr double attention = 2.0 * 8 * 16 * 48 * 3 + 2 * (2.0 * 8 * 8 * 16 * 3) + 2.0 * 8 * 16 * 16 * 3;
  constexpr double head = 2.0 * 128 * 10 * 3;
  constexpr double linear = 2.0 * 20 * 16 * 2 + 2.0 * 16 * 2 * 3;
  const Observed observed({{"all_kinds", attention_and_more},
                           {"evaluates", between_evaluations},
                           {"function", own_function},
                           {"compiled", prelude + "model = torch.jit.script(model)\n" + plain_loop},
                           {"outside", outside_of_modules}});
  CHECK(observed.states() == Json{{"succeeded", 5}});
  const auto counted = observed.result("all_kinds");
  CHECK(counted.steps == 12);
  CHECK(counted.flops.per_sample == convolution + frozen + attention + head);
  CHECK(counted.flops.precision == "fp32");
  CHECK(counted.flops.device == "cpu");
  CHECK(counted.flops.matmul > 1e8);
  CHECK(observed.result("evaluates").flops.per_sample == linear);
  for (const auto& [script, why] :
       {std::pair{"function", "Product is an autograd.Function"}, {"compiled", "compiled"}, {"outside", "outside of modules"}}) {
    const auto result = observed.result(script);
    INFO(script);
    CHECK(result.steps == 20);
    CHECK(std::isnan(result.flops.per_sample));
    CHECK_THAT(result.facts.at("FLOPs of a sample"), Catch::StartsWith("not known: ") && Catch::Contains(why));
  }
}

TEST_CASE("observed: an exception, in a child or a thread too, and an exit code are the failure of the run, with the traceback "
          "of the script alone")
{
  if (!has_torch()) return;
  const std::string crash = prelude + R"(
class Bad(nn.Module):
    calls = 0
    def forward(self, a):
        Bad.calls += 1
        if Bad.calls == 7:
            raise ValueError("bad batch")
        return model(a)
model_of_loop, model = Bad(), model
for a, b in DataLoader(train, batch_size=32):
    optimizer.zero_grad()
    F.cross_entropy(model_of_loop(a), b).backward()
    optimizer.step()
)";
  const std::string two_children =
      "import torch.multiprocessing as mp\nchildren = [mp.get_context('fork').Process(target=work) for _ in range(2)]\n"
      "for child in children: child.start()\nfor child in children: child.join()\n";
  const std::string broken = work + "    raise ValueError('the data are broken')\n";
  std::map<std::string, std::string> scripts{
      {"crash", crash}, {"exits", prelude + plain_loop + "sys.exit(7)\n"}, {"two", broken + two_children}};
  for (const auto& [way, start] : starts) scripts[way] = broken + start;
  const Observed observed(scripts);
  CHECK(observed.states() == Json{{"failed", 6}});
  for (const std::string script : {"fork", "spawn", "thread", "two"}) {
    INFO(script);
    CHECK_THAT(observed.cause(script), Catch::Contains("ValueError: the data are broken"));
  }
  CHECK_THAT(observed.cause("two"), !Catch::Contains("(step 0)")); // of the child whose steps are not counted
  CHECK_THAT(observed.cause("exits"), Catch::Contains("exit code 7") && !Catch::Contains("reported its result"));
  CHECK_THAT(observed.cause("crash"), Catch::Contains("ValueError: bad batch"));
  CHECK_THAT(observed.log("crash"),
             Catch::Contains("Traceback") && !Catch::Contains("dtctl_observe") && !Catch::Contains("dtctl_measure"));
}

TEST_CASE("observed: what is known in part has a caveat: losses of optimizers in turn, several processes that train, errors of "
          "the observer")
{
  if (!has_torch()) return;
  const std::string two_optimizers = prelude + R"(
judge = nn.Linear(20, 1)
of_judge = torch.optim.RMSprop(judge.parameters())
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        of_judge.zero_grad()
        judge(a).mean().backward()
        of_judge.step()
        if i % 5 == 0 or EACH:
            train_on(a, b)
)";
  const std::string two_processes = R"(
import torch, torch.nn as nn, torch.multiprocessing as mp
torch.set_num_threads(1)
def work(number, started):
    model = nn.Linear(10, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(20):
        optimizer.zero_grad()
        model(torch.randn(8, 10)).sum().backward()
        optimizer.step()
        if i == 1:
            started.wait()
if __name__ == "__main__":
    started = mp.get_context("spawn").Barrier(2)
    both = [mp.get_context("spawn").Process(target=work, args=(number, started)) for number in range(2)]
    [each.start() for each in both]
    [each.join() for each in both]
)";
  const std::string part_fails = prelude + R"(
watched = sys.modules["dtctl_observe"]._observer
watched.gradient_times.begins_step = lambda *_: 1 / 0
)" + plain_loop;
  const std::string observer_fails = prelude + R"(
watched = sys.modules["dtctl_observe"]._observer
watched._take_samples = lambda inner=watched._take_samples: 1 / 0 if watched.steps == 8 else inner()
watched.flops.counter._add = lambda *_: 1 / 0     # of what counts FLOPs alone
)" + plain_loop + "print('the script goes on')\n";
  const Observed observed({{"in_turn", "EACH = False\n" + two_optimizers},
                           {"together", "EACH = True\n" + two_optimizers},
                           {"processes", two_processes},
                           {"part", part_fails},
                           {"observer", observer_fails}});
  CHECK(observed.states() == Json{{"succeeded", 5}});
  CHECK_THAT(observed.result("in_turn").caveats.at("losses"), Catch::Contains("(RMSprop, SGD)"));
  CHECK_FALSE(observed.result("together").caveats.contains("losses"));

  const auto processes = observed.result("processes");
  CHECK(processes.steps == 20);
  CHECK(std::isnan(processes.throughput));
  CHECK(processes.measured_samples == dt::not_counted);
  CHECK(processes.caveats.contains("processes"));

  const auto part = observed.result("part");
  CHECK(part.steps == 20);
  CHECK(part.measured_samples == 16 * 32);
  CHECK_THAT(part.caveats.at("observation"), Catch::Contains("without the readiness of gradients"));

  const auto stopped = observed.result("observer");
  CHECK(stopped.steps == 8);
  for (const auto& told : {stopped.facts.at("observed"), stopped.caveats.at("observation"), observed.log("observer")})
    CHECK_THAT(told, Catch::Contains("stopped at step 8"));
  CHECK_THAT(stopped.facts.at("FLOPs of a sample"), Catch::StartsWith("not known: ZeroDivisionError"));
  CHECK_THAT(observed.log("observer"), Catch::Contains("the script goes on"));
}

TEST_CASE("observed: nothing if the recipe says so")
{
  if (!has_torch()) return;
  const Own none(prelude + plain_loop, recipe(1, "  observe: none\n"));
  CHECK(none.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(none.cause(), Catch::Contains("reported no result"));
}

TEST_CASE("observed: the exchange of DistributedDataParallel is told from its backward pass, and the weights stay bit for bit")
{
  if (!has_torch()) return;
  const std::string script = prelude + R"(
import hashlib
import torch.distributed as dist
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=DistributedSampler(train)):
        train_on(a, b)
print("weights", hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
)";
  const auto weights = [](const Own& own) {
    const auto text = own.dtctl.run({"logs", "own"}).out;
    const auto at = text.find("weights ");
    return at == std::string::npos ? std::string("none") : text.substr(at, 8 + 64);
  };
  const Own own(script, recipe(2));
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
  CHECK(result.communication_share > 0);
  CHECK(result.flops.per_sample == 2.0 * 20 * 16 * 2 + 2.0 * 16 * 2 * 3); // as on one rank
  REQUIRE(result.buckets.size() == 1);
  CHECK(result.buckets[0].bytes == 4 * (20 * 16 + 16 + 16 * 2 + 2));
  CHECK(own.dtctl.json({"results", "own", "--why"}).dump().find("\"missing_phases\":[]") != std::string::npos);

  const Own plain(script, recipe(2, "  metrics: {loss: 'weights (\\d)'}\n"));
  plain.submit();
  CHECK(weights(own).size() == 8 + 64);
  CHECK(weights(own) == weights(plain));
}

TEST_CASE("observed: ranks that print at the same time write whole lines")
{
  const Own own(R"(
import os
for line in range(50):
    print("rank", os.environ["RANK"], "has", "printed", "the", "line", line)
)",
                recipe(2));
  own.submit();
  std::map<std::string, int> lines;
  for (const auto& line : dt::split(own.dtctl.run({"logs", "own"}).out, '\n')) ++lines[line];
  for (const std::string rank : {"0", "1"})
    for (int line = 0; line < 50; ++line) CHECK(lines["rank " + rank + " has printed the line " + std::to_string(line)] == 1);
}

TEST_CASE("observed: samples that no batch tells are unknown with a caveat, until the recipe says them")
{
  if (!has_torch()) return;
  const std::string script = prelude + R"(
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRU(4, 8), nn.Linear(8, 2)
    def forward(self, words):                # [length, batch, 4]
        return self.head(self.cell(words)[0][-1])
model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    F.cross_entropy(model(torch.randn(35, 16, 4)), torch.zeros(16).long()).backward()
    optimizer.step()
)";
  const auto samples_with = [&](const std::string& program) {
    const Own own(script, recipe(1, program));
    const auto result = result_of(own);
    CHECK(result.steps == 20);
    CHECK(result.caveats.contains("samples") == program.empty());
    if (program.empty()) CHECK(own.dtctl.run({"results", "own"}).out.find("program.samples") != std::string::npos);
    return result.measured_samples;
  };
  CHECK(samples_with("") == dt::not_counted);
  CHECK(samples_with("  samples: dimension 1\n") == 16 * 16);
  CHECK(samples_with("  samples: 12\n") == 16 * 12);
}

TEST_CASE("observed: the time between epochs is a cause of its own, and neither a phase nor an evaluation")
{
  if (!has_torch()) return;
  const Own own(prelude + R"(
import time
for epoch in range(4):
    for a, b in DataLoader(train, batch_size=32):
        train_on(a, b)
    model.eval()
    with torch.no_grad():
        for a, b in DataLoader(test, batch_size=20):
            model(a)
    model.train()
    time.sleep(0.4)                          # a plot
    torch.save(model.state_dict(), "model.pt")
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 40);
  CHECK(result.between.other_s >= 3 * 0.4);
  CHECK(result.between.checkpoint_s > 0);
  CHECK(result.measured_s > result.between.other_s);
  CHECK(seconds_of(result, dt::Phase::evaluation) < result.between.other_s / 2);
  CHECK(seconds_of(result, dt::Phase::forward) < result.between.other_s / 2);
  const auto why = own.dtctl.run({"results", "own", "--why"}).out;
  INFO(why);
  CHECK(why.find("between epochs  1 node: ") != std::string::npos);
  CHECK(own.dtctl.json({"query", "SELECT count(*) AS n FROM evals"}).at("rows")[0].at("n") == 4);
}

TEST_CASE("observed: a script without torch imports nothing of the observer, and chains to the user's own sitecustomize")
{
  const std::string script = R"(
import sys, os
assert "dtctl_observe" not in sys.modules and "torch" not in sys.modules
assert os.environ["SITE_OF_THE_USER"] == "there"
print("no torch here")
)";
  const Own own(script);
  std::filesystem::create_directory(own.dtctl.folder() / "site");
  own.dtctl.write("site/sitecustomize.py", "import os\nos.environ['SITE_OF_THE_USER'] = 'there'\n");
  own.dtctl.write("own.yaml", "version: 1\nname: own\nprogram:\n  command: [" + python() +
                                  ", train.py]\n  files: [train.py]\nresources: {env: {PYTHONPATH: \"" +
                                  (own.dtctl.folder() / "site").string() + "\"}}\n");
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  INFO(own.dtctl.run({"logs", "own"}).out);
  CHECK(own.cause().find("rank 0 reported no result") != std::string::npos);
  CHECK(own.cause().find("program.observe") != std::string::npos);
}

TEST_CASE("observed: communication that cannot be seen is unknown, not zero, and the causes name it")
{
  if (!has_torch()) return;
  const Own own(prelude + R"(
import torch.distributed as dist
dist.init_process_group("gloo")
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=torch.utils.data.DistributedSampler(train)):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        for work in [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]:
            work.get_future().wait()
        optimizer.step()
dist.destroy_process_group()
)",
                recipe(2));
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
  CHECK(std::isnan(result.communication_share));
  CHECK(std::isnan(seconds_of(result, dt::Phase::communication)));
  CHECK(result.facts.at("communication that could not be observed").find("all_reduce(async_op=True)") != std::string::npos);
  const auto why = own.dtctl.json({"results", "own", "--why"}).dump();
  INFO(why);
  CHECK(why.find("\"missing_phases\":[\"`communication`\"]") != std::string::npos);
  CHECK(own.dtctl.run({"results", "own", "--why"}).out.find("`communication`") != std::string::npos);
}

namespace {

// Parts of a training script for two ranks: what comes before its loop, and its forward and backward pass. The script's function
// watch(call) makes the call and adds its duration to `waited`.
struct Exchanging {
  std::string what, before, in_step;
};

const std::string sums_in_hooks = R"(
for p in model.parameters():
    p.register_hook(lambda grad: watch(lambda: dist.all_reduce(grad)))
)";

const std::vector<Exchanging>& exchanging_scripts()
{
  static const std::vector<Exchanging> scripts{
      {"sums behind the backward pass", "", R"(
        F.cross_entropy(model(a), b).backward()
        for p in model.parameters():
            watch(lambda: dist.all_reduce(p.grad))
)"},
      {"sums that are begun and waited for", "", R"(
        F.cross_entropy(model(a), b).backward()
        for work in [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]:
            watch(work.wait)
)"},
      {"sums begun in hooks of the backward pass", R"(
works = []
for p in model.parameters():
    p.register_hook(lambda grad: works.append(dist.all_reduce(grad, async_op=True)))
)",
       R"(
        F.cross_entropy(model(a), b).backward()
        while works:
            watch(works.pop(0).wait)
)"},
      {"sums in hooks of the backward pass", sums_in_hooks,
       R"(
        F.cross_entropy(model(a), b).backward()
)"},
      {"weights that are gathered before they are used, as with sharded parameters", R"(
def gather(module, _):
    for p in module.parameters(recurse=False):
        parts = [torch.empty_like(p) for _ in range(2)]
        watch(lambda: dist.all_gather(parts, p.detach()))
for module in model.modules():
    module.register_forward_pre_hook(gather)
)" + sums_in_hooks,
       R"(
        F.cross_entropy(model(a), b).backward()
)"},
      {"a pipeline of two ranks", R"(
rank, passed = dist.get_rank(), torch.zeros(16, 16, requires_grad=True)
)",
       R"(
        if rank == 0:
            hidden = model[0](a)
            watch(dist.isend(hidden.detach(), 1).wait)
            watch(lambda: dist.recv(passed.data, 1))
            hidden.backward(passed)
        else:
            watch(lambda: dist.recv(passed.data, 0))
            F.cross_entropy(model[2](torch.relu(passed)), b).backward()
            watch(lambda: dist.send(passed.grad, 0))
            passed.grad = None
)"},
  };
  return scripts;
}

} // namespace

TEST_CASE("observed: what the script waits for in calls of torch.distributed is communication, wherever it waits")
{
  if (!has_torch()) return;
  for (const auto& [what, before, in_step] : exchanging_scripts()) {
    INFO(what);
    const Own own(prelude + R"(
import time
import torch.distributed as dist
dist.init_process_group("gloo")
waited, steps = 0.0, 0
def watch(call):
    global waited
    begin = time.monotonic()
    call()
    if steps >= 4:  # those before are a warm-up
        waited += time.monotonic() - begin
)" + before + R"(
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=torch.utils.data.DistributedSampler(train)):
        optimizer.zero_grad())" +
                      in_step + R"(
        optimizer.step()
        steps += 1
if dist.get_rank() == 0:
    print("waited", waited)
dist.destroy_process_group()  # ends Gloo's threads: one that frees a gradient when Python has ended aborts the process
)",
                  recipe(2));
    const auto result = result_of(own);
    CHECK(result.steps == 20);
    const auto text = own.dtctl.run({"logs", "own"}).out;
    INFO(text);
    const auto at = text.find("waited ");
    REQUIRE(at != std::string::npos);
    const double waited_s = std::stod(text.substr(at + 7));
    const double observed_s = seconds_of(result, dt::Phase::communication);
    CHECK(observed_s <= waited_s);
    CHECK(observed_s > 0.25 * waited_s); // less than all where the machine pauses between the two clocks
    CHECK_FALSE(result.facts.contains("communication that could not be observed"));
  }
}

TEST_CASE("observed: an optimizer that shards its states communicates in its step")
{
  if (!has_torch()) return;
  const Own own(prelude + R"(
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=torch.utils.data.DistributedSampler(train)):
        train_on(a, b)
dist.destroy_process_group()
)",
                recipe(2));
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.communication_share > 0);
  CHECK_FALSE(result.facts.contains("communication that could not be observed"));
}

TEST_CASE(
    "observed: a script that reports its steps by itself is left alone, one that only tells its accuracy is observed with it")
{
  if (!has_torch()) return;
  const std::string own_report = prelude + R"(
import dtctl_report as report
F.cross_entropy(model(x), y).backward()      # a warm-up that nobody should count
optimizer.step()
report.begin()
for a, b in DataLoader(train, batch_size=32):
    train_on(a, b)
    report.step(samples=7)
report.result()
)";
  const Own own(own_report, recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 10);
  CHECK(result.measured_samples == 6 * 7);
  CHECK_FALSE(result.facts.contains("observed"));

  const Own accuracy(prelude + "import dtctl_report as report\n" + plain_loop + "    report.evaluation(0.25 + 0.5 * epoch)\n",
                     recipe());
  const auto observed = result_of(accuracy);
  CHECK(observed.steps == 20);
  CHECK(observed.accuracy == 0.75);
  CHECK(observed.facts.contains("observed"));
}

TEST_CASE("one line a step reports a loop of another framework")
{
  const Own own(R"(
import dtctl_report as report
class Array:  # of JAX, for example
    shape = (16, 3)
for i in range(20):
    report.observe_step({"images": Array(), "labels": None}, loss=1.0 / (i + 1))
)",
                "version: 1\nname: own\nprogram: {command: [python3, train.py], files: [train.py]}\ntrain: {warmup_steps: 4}\n");
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 16);
  CHECK(result.final_loss == 0.05);
}

TEST_CASE("a traced script has a timeline: the phases of its steps, and in every eighth step when each gradient is ready")
{
  if (!has_torch()) return;
  auto text = recipe();
  text.replace(text.find("train: {"), 8, "train: {trace: true, ");
  const Own own(prelude + plain_loop, text);
  CHECK(result_of(own).steps == 20);
  const auto record = dt::parse_trace(dt::read_file(dt::trace_path(own.attempt(), 0)));
  REQUIRE(record);
  std::map<std::int64_t, dt::TraceSpan> steps;
  std::map<std::string, std::set<std::int64_t>> seen; // a phase -> the steps that have it
  std::map<std::int64_t, std::int64_t> gradients;     // of a step -> bytes
  const auto word = [&](int name) { return record->names.at(static_cast<std::size_t>(name)); };
  for (const auto& span : record->spans)
    if (word(span.name) == "step") steps[span.step] = span;
  CHECK(steps.size() == 20);
  for (const auto& span : record->spans) {
    const auto& step = steps.at(span.step);
    INFO(word(span.name) << " of step " << span.step);
    CHECK(span.begin_ns >= step.begin_ns - 1000);
    CHECK(span.begin_ns + span.length_ns <= step.begin_ns + step.length_ns + 1000);
    seen[word(span.name)].insert(span.step);
    if (word(span.track) == "gradients") gradients[span.step] += span.bytes;
  }
  for (const auto* phase : {"input", "forward", "backward", "optimizer"}) CHECK(seen[phase].size() == 20);
  const std::int64_t bytes = 4 * (20 * 16 + 16 + 16 * 2 + 2);
  CHECK(gradients == std::map<std::int64_t, std::int64_t>{{9, bytes}, {17, bytes}});
  CHECK(own.dtctl.run({"export", "--format", "trace", "last", "-o", "trace.json"}).ok());
  CHECK(own.dtctl.run({"plot", "--kind", "timeline", "-o", "timeline.svg"}).ok());
}
