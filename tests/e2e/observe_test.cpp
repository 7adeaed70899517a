// PyTorch scripts that nobody changed, observed from outside (share/dtctl/program/dtctl_observe): ordinary loops, from a recipe
// that only names the command to the record. What is asserted are counts, never times.
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/record/trace_record.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/e2e/python.hpp"

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

} // namespace

TEST_CASE("observed: a plain loop has steps, samples, loss, parameters and every phase")
{
  if (!has_torch("torch.distributed")) return;
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

TEST_CASE("observed: FLOPs of a sample are those counted by hand: convolution, attention and linear layers, forward and backward")
{
  if (!has_torch("torch.distributed")) return;
  const std::string script = R"(
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
  constexpr double convolution = 2.0 * 8 * 4 * 4 * 3 * 3 * 3 * 2; // no derivative by the images
  constexpr double frozen = 2.0 * 8 * 16 * 16 * 2;                // no derivative by its weights
  constexpr double attention = 2.0 * 8 * 16 * 48 * 3 + 2 * (2.0 * 8 * 8 * 16 * 3) + 2.0 * 8 * 16 * 16 * 3;
  constexpr double head = 2.0 * 128 * 10 * 3;
  const Own own(script, recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 12);
  CHECK(result.flops.per_sample == convolution + frozen + attention + head);
  CHECK(result.flops.precision == "fp32");
  CHECK(result.flops.device == "cpu");
  CHECK(result.flops.matmul > 1e8);
  CHECK(result.facts.at("FLOPs of a sample") == "counted in one step: 2 convolutions, 12 products of matrices");
}

TEST_CASE("observed: FLOPs are counted without a DataLoader, where each step begins with the backward pass behind an evaluation")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
for step in range(20):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(x[:320]), y[:320]).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model(x[320:])
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.flops.per_sample == 2.0 * 20 * 16 * 2 + 2.0 * 16 * 2 * 3);
}

TEST_CASE("observed: on two ranks the FLOPs of a sample are those of one, and autocast is the precision")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
import torch.distributed as dist
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in DataLoader(train, batch_size=16, sampler=DistributedSampler(train)):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = F.cross_entropy(model(a), b)
    loss.backward()
    optimizer.step()
)",
                recipe(2));
  const auto result = result_of(own);
  CHECK(result.flops.per_sample == 2.0 * 20 * 16 * 2 + 2.0 * 16 * 2 * 3);
  CHECK(result.flops.precision == "bf16");
}

TEST_CASE("observed: FLOPs that cannot be counted are unknown and say why, never too few")
{
  if (!has_torch("torch.distributed")) return;
  const auto check = [](const std::string& script, const std::string& why) {
    const Own own(prelude + script, recipe());
    const auto result = result_of(own);
    CHECK(result.steps == 20);
    CHECK(std::isnan(result.flops.per_sample));
    CHECK(result.facts.at("FLOPs of a sample") == "not known: " + why);
  };
  check(R"(
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
model.add_module("own", type("Own", (nn.Module,), {"forward": lambda self, a: Product.apply(a)})())
)" + plain_loop,
        "Product is an autograd.Function of the program");
  check("model = torch.jit.script(model)\n" + plain_loop, "the model is compiled");
  check(R"(
weights = torch.randn(2, 2, requires_grad=True)
for step in range(20):
    optimizer.zero_grad()
    F.cross_entropy(model(x[:32]) @ weights, y[:32]).backward()
    optimizer.step()
)",
        "matrices are multiplied outside of modules");
}

TEST_CASE("observed: the exchange of DistributedDataParallel is told from its backward pass, and the weights stay bit for bit")
{
  if (!has_torch("torch.distributed")) return;
  const std::string script = prelude + R"(
import hashlib
import torch.distributed as dist
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=DistributedSampler(train)):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
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

TEST_CASE("observed: a step has all batches whose gradients it accumulates, and the sum of their parts of the loss")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=16)):
        (F.cross_entropy(model(a), b) / 2).backward()
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  CHECK(result.final_loss.value_or(0) > 0.36); // one half of it is below 0.35
  check_computation(result);
}

TEST_CASE("observed: with autocast and a scaler an update that overflows is skipped by the scaler and is still a step")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
}

TEST_CASE("observed: two optimizers that step for the same batch, as in a GAN, make one step")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
}

TEST_CASE("observed: layers that are trained one after the other, without a DataLoader, have a step for each update")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 35);
  CHECK(result.measured_samples == 31 * 32);
}

TEST_CASE("observed: losses of two optimizers in turn are told as no one series")
{
  if (!has_torch("torch.distributed")) return;
  const std::string two = prelude + R"(
judge = nn.Linear(20, 1)
of_judge = torch.optim.RMSprop(judge.parameters())
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        of_judge.zero_grad()
        judge(a).mean().backward()
        of_judge.step()
        if i % 5 == 0 or EACH:
            optimizer.zero_grad()
            F.cross_entropy(model(a), b).backward()
            optimizer.step()
)";
  const auto caveats_of = [&](const std::string& each) {
    const Own own(std::string("EACH = ") + each + "\n" + two, recipe());
    return result_of(own).caveats;
  };
  CHECK(caveats_of("False").at("losses") ==
        "the loss of a step is of one optimizer now, of another then (RMSprop, SGD): the steps' losses are no one series");
  CHECK_FALSE(caveats_of("True").contains("losses"));
}

TEST_CASE("observed: an iterable data set has samples, also in its last smaller batch")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([train[i] for i in range(300)])
for epoch in range(2):
    for a, b in DataLoader(Stream(), batch_size=32):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 2 * 300 - 4 * 32);
  check_computation(result);
}

TEST_CASE(
    "observed: batches that a step accumulates over an epoch's end are counted, and batches that are read and dropped are not")
{
  if (!has_torch("torch.distributed")) return;
  const Own accumulating(prelude + R"(
seen = 0
for epoch in range(4):
    for a, b in DataLoader(train, batch_size=32):   # 10 batches an epoch, 4 of them a step
        F.cross_entropy(model(a), b).backward()
        seen += 1
        if seen % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
)",
                         recipe());
  const auto result = result_of(accumulating);
  CHECK(result.steps == 10);
  CHECK(result.measured_samples == 6 * 4 * 32);

  const Own dropping(prelude + R"(
for epoch in range(4):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        if i % 2 == 1:
            continue
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
)",
                     recipe());
  const auto dropped = result_of(dropping);
  CHECK(dropped.steps == 20);
  CHECK(dropped.measured_samples == 16 * 32);
}

TEST_CASE("observed: samples that no batch tells are unknown with a caveat, until the recipe says them")
{
  if (!has_torch("torch.distributed")) return;
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
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
import time
for epoch in range(4):
    for a, b in DataLoader(train, batch_size=32):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
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

TEST_CASE("observed: what follows a pass without gradients is in no phase")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
import time
for step in range(12):
    optimizer.zero_grad()
    F.cross_entropy(model(x[:32]), y[:32]).backward()
    optimizer.step()
    with torch.no_grad():
        model(x[320:])                       # without eval()
    time.sleep(0.05)
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 12);
  CHECK(result.measured_s >= 7 * 0.05);
  CHECK(seconds_of(result, dt::Phase::forward) < result.measured_s / 2);
}

TEST_CASE("observed: evaluations between steps are left out of them")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
def evaluate():
    model.eval()
    with torch.no_grad():
        for a, b in DataLoader(test, batch_size=20):
            model(a)
            torch.randn(1500, 1500) @ torch.randn(1500, 1500)   # longer than all steps
    model.train()
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=32)):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
        if i == 6:
            evaluate()
    evaluate()
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
  CHECK(seconds_of(result, dt::Phase::evaluation) > result.measured_s);
  CHECK_FALSE(result.accuracy); // nobody told it
  CHECK(own.dtctl.json({"query", "SELECT count(*) AS n FROM evals"}).at("rows")[0].at("n") == 4);
}

TEST_CASE("observed: a crash is the script's, with its traceback and without a result")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
)",
                recipe());
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK(own.cause().find("ValueError: bad batch") != std::string::npos);
  const auto log = own.dtctl.run({"logs", "own"}).out;
  INFO(log);
  CHECK(log.find("Traceback") != std::string::npos);
  for (const auto* own_package : {"dtctl_observe", "dtctl_measure"}) CHECK(log.find(own_package) == std::string::npos);
}

TEST_CASE("observed: a script that ends with an exit code of its own fails with that code, although it has trained")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + plain_loop + "sys.exit(7)\n", recipe());
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK(own.cause().find("exit code 7") != std::string::npos);
  CHECK(own.cause().find("reported its result") == std::string::npos);
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

TEST_CASE("observed: workers of a DataLoader and forked processes report nothing")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
pid = os.fork()
if pid == 0:
    raise ValueError("of the child alone")
os.waitpid(pid, 0)
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  check_computation(result);
}

TEST_CASE("observed: a training in a child or in a thread is observed, and its exception is a failure of the run")
{
  if (!has_torch("torch.distributed")) return;
  const std::string fork =
      "import torch.multiprocessing as mp\np = mp.get_context('fork').Process(target=work)\np.start()\np.join()\n";
  const std::string spawn = R"(
import torch.multiprocessing as mp
if __name__ == "__main__":
    try:
        mp.spawn(work, nprocs=1)
    except Exception as error:
        print("the parent goes on after", type(error).__name__)
)";
  const std::string thread = "import threading\nt = threading.Thread(target=work)\nt.start()\nt.join()\n";
  const auto script = [&](const std::string& start, const std::string& end) {
    return prelude + R"(
def work(*_):
    for epoch in range(2):
        for a, b in DataLoader(train, batch_size=32):
            optimizer.zero_grad()
            F.cross_entropy(model(a), b).backward()
            optimizer.step()
)" + end + start;
  };
  for (const auto& start : {fork, spawn, thread}) {
    INFO(start);
    const Own own(script(start, ""), recipe());
    const auto result = result_of(own);
    CHECK(result.steps == 20);
    CHECK(result.measured_samples == 16 * 32);
    const Own broken(script(start, "    raise ValueError('the data are broken')\n"), recipe());
    CHECK(broken.submit().at("states") == Json{{"failed", 1}});
    CHECK(broken.cause().find("ValueError: the data are broken") != std::string::npos);
  }
  const std::string two =
      "import torch.multiprocessing as mp\nchildren = [mp.get_context('fork').Process(target=work) for _ in range(2)]\n"
      "for child in children: child.start()\nfor child in children: child.join()\n";
  const Own broken(script(two, "    raise ValueError('the data are broken')\n"), recipe());
  CHECK(broken.submit().at("states") == Json{{"failed", 1}});
  CHECK(broken.cause().find("ValueError: the data are broken") != std::string::npos);
  CHECK(broken.cause().find("(step 0)") == std::string::npos); // of the child whose steps are not counted
}

TEST_CASE("observed: where several processes of a rank train, the throughput is unknown, and results say so")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(R"(
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
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(std::isnan(result.throughput));
  CHECK(result.measured_samples == dt::not_counted);
  CHECK(result.caveats.at("processes") ==
        "several processes of a rank train, and only the steps of one are counted: the throughput is not known");
  CHECK(own.dtctl.run({"results", "own"}).out.find("several processes of a rank train") != std::string::npos);
}

TEST_CASE("observed: a validation under inference_mode within an epoch ends nothing")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
for i, (a, b) in enumerate(DataLoader(train, batch_size=8), 1):
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
    if i % 4 == 0:
        with torch.inference_mode():
            for a, b in DataLoader(test, batch_size=20):
                model(a)
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 40);
  CHECK(result.measured_samples == 36 * 8);
  for (const auto& [kind, sentence] : result.caveats) {
    INFO(kind << ": " << sentence);
    CHECK(kind == "warm-up"); // of a process that starts on a busy machine
  }
}

TEST_CASE("observed: an error in a part of the observer costs that part, and the steps go on with a caveat")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
watched = sys.modules["dtctl_observe"]._observer
watched.gradient_times.begins_step = lambda *_: 1 / 0
)" + plain_loop,
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  CHECK(result.caveats.at("observation").starts_with("the observer goes on without the readiness of gradients"));
}

TEST_CASE("observed: gradients of torch.autograd.grad make steps, and two optimizers have both their learning rates")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
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
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  CHECK(result.facts.at("learning rates") == "SGD 0.1 to 0.05; Adam 0.01");
  const auto rates = own.dtctl.json({"query", "SELECT max(learning_rate) AS rate FROM steps"});
  CHECK(rates.at("rows")[0].at("rate") == 0.1);
}

TEST_CASE("observed: a trainer class that reads one batch ahead, steps in a closure and evaluates has the steps and samples of "
          "its loop")
{
  if (!has_torch("torch.distributed")) return;
  const std::string trainer = prelude + R"(
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
  for (const auto* uses_closure : {"False", "True"}) {
    const Own own(trainer + "Trainer(model).fit(" + uses_closure + ")\n", recipe());
    const auto result = result_of(own);
    INFO("closure: " << uses_closure);
    CHECK(result.steps == 20);
    CHECK(result.measured_samples == 16 * 32);
    check_computation(result);
    CHECK(own.dtctl.json({"query", "SELECT count(*) AS n FROM evals"}).at("rows")[0].at("n") == 4);
  }
}

TEST_CASE("observed: communication that cannot be seen is unknown, not zero, and the causes name it")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
import torch.distributed as dist
dist.init_process_group("gloo")
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=16, sampler=torch.utils.data.DistributedSampler(train)):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        for work in [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]:
            work.wait()
        optimizer.step()
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

TEST_CASE("observed: gradients that the script sums by itself are communication")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
import torch.distributed as dist
dist.init_process_group("gloo")
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=32):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
        optimizer.step()
)",
                recipe(2));
  CHECK(result_of(own).communication_share > 0);
}

TEST_CASE("observed: without a DataLoader the input is unknown, and the samples are those that the module gets")
{
  if (!has_torch("torch.distributed")) return;
  const Own own(prelude + R"(
for step in range(20):
    optimizer.zero_grad()
    F.cross_entropy(model(x[:32]), y[:32]).backward()
    optimizer.step()
)",
                recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  CHECK(std::isnan(seconds_of(result, dt::Phase::input)));
  CHECK(seconds_of(result, dt::Phase::backward) > 0);
}

TEST_CASE(
    "observed: a script that reports its steps by itself is left alone, one that only tells its accuracy is observed with it")
{
  if (!has_torch("torch.distributed")) return;
  const std::string own_report = prelude + R"(
import dtctl_report as report
F.cross_entropy(model(x), y).backward()      # a warm-up that nobody should count
optimizer.step()
report.begin()
for a, b in DataLoader(train, batch_size=32):
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
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

TEST_CASE("observed: nothing if the recipe says so, and an error of the observer leaves the script and its first steps alone")
{
  if (!has_torch("torch.distributed")) return;
  const Own none(prelude + plain_loop, recipe(1, "  observe: none\n"));
  CHECK(none.submit().at("states") == Json{{"failed", 1}});
  CHECK(none.cause().find("rank 0 reported no result") != std::string::npos);

  const Own broken(prelude + R"(
watched = sys.modules["dtctl_observe"]._observer
watched._take_samples = lambda inner=watched._take_samples: 1 / 0 if watched.steps == 8 else inner()
watched.flops.counter._add = lambda *_: 1 / 0     # of what counts FLOPs alone
)" + plain_loop + "print('the script goes on')\n",
                   recipe());
  const auto result = result_of(broken);
  CHECK(result.steps == 8);
  CHECK(result.facts.at("observed").find("stopped at step 8: ZeroDivisionError") != std::string::npos);
  CHECK(result.caveats.at("observation").starts_with("the observer stopped at step 8, because of an error of its own"));
  CHECK(result.facts.at("FLOPs of a sample") == "not known: ZeroDivisionError in add: division by zero");
  const auto log = broken.dtctl.run({"logs", "own"}).out;
  CHECK(log.find("the script goes on") != std::string::npos);
  CHECK(log.find("because of an error of its own") != std::string::npos);
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
