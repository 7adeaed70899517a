// A PyTorch program that nobody changed, predicted and simulated on more nodes from what was observed of it.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "tests/e2e/compute_profile.hpp"
#include "tests/e2e/own_program.hpp"

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::Json;
using dt::test::Own;
using dt::test::python;

namespace {

// 40 steps of 16 samples; with two ranks under DistributedDataParallel.
const std::string script = R"(
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.randn(640, 200)
if os.environ["RANK"] == "1": x = x.flip(0)
y = (x.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(200, 100), nn.ReLU(), nn.Linear(100, 2))
if os.environ["WORLD_SIZE"] != "1":
    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters())
for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(a), b).backward()
    optimizer.step()
)";

const std::string recipe = "version: 1\nname: own\nprogram:\n  command: [" + python() +
                           ", train.py]\n  files: [train.py]\ntrain: {warmup_steps: 4}\nstudy: {mode: weak, ranks: [1, 2]}\n"
                           "resources: {oversubscribe: true}\n";

} // namespace

TEST_CASE("an unchanged PyTorch program is predicted, and simulated under several strategies on many nodes, and what cannot be "
          "is refused "
          "with what to do")
{
  if (!has_torch()) return;
  const Own own(script, recipe);
  const auto outcome = own.submit("sweep");
  INFO(outcome.dump() << own.dtctl.run({"logs", "own"}).out);
  REQUIRE(outcome.at("states") == Json{{"succeeded", 2}});
  for (const auto& run : std::filesystem::directory_iterator(own.dtctl.home() / "runs")) {
    const auto profile =
        dt::read_compute_profile(dt::AttemptFolder(run.path(), 1).path_of(dt::AttemptFile::compute_profile).string());
    CHECK(profile.model == "train.py");
    CHECK(profile.batch == 16);
    CHECK(profile.steps > 30);
    CHECK(profile.backward_s() > 0);
    CHECK(dt::test::parameters_of(profile) == 200 * 100 + 100 + 200 + 2);
    CHECK(profile.layers.back().name.starts_with("2.")); // the last layer's gradients are ready first
  }

  const auto predicted = own.dtctl.json({"predict", "own", "--ranks", "4"}).at("predictions").at(0);
  CHECK(predicted.at("ranks") == 4);

  const dt::test::Words simulate{"simulate", "own",  "--platform", "ethernet-10g",
                                 "--nodes",  "1,16", "--strategy", "sync-sgd,local-sgd:period=4"};
  const auto answer = own.dtctl.json(simulate);
  INFO(answer.dump(1));
  const auto& points = answer.at("scaling");
  REQUIRE(points.size() == 4);
  std::map<std::pair<std::string, int>, double> throughputs;
  for (const auto& point : points) {
    CHECK(point.at("runs") == 3);
    throughputs[{point.at("label").get<std::string>().find("local-sgd") == std::string::npos ? "sync-sgd" : "local-sgd",
                 point.at("nodes").get<int>()}] = point.at("throughput");
  }
  const double sync_1 = throughputs.at({"sync-sgd", 1}), sync_16 = throughputs.at({"sync-sgd", 16});
  CHECK(sync_16 > sync_1);
  CHECK(sync_16 < 16 * sync_1);
  CHECK(throughputs.at({"local-sgd", 16}) > sync_16); // a quarter of the exchanges
  const auto runs = own.dtctl.json({"query", "SELECT DISTINCT model_name, resources_platform, parameters FROM runs_flat WHERE "
                                             "study = 'own-on-ethernet-10g'"});
  CHECK(runs.at("rows") == Json::parse(R"([{"model_name": "", "resources_platform": "ethernet-10g", "parameters": 20302}])"));
  CHECK(own.dtctl.json(simulate).at("scaling") == points); // nothing is simulated twice

  for (const auto& [words, what_to_do] :
       {std::pair{dt::test::Words{}, "--platform"},
        {{"--platform", "ethernet-11g"}, "ethernet-10g"},
        {{"--platform", "ethernet-10g", "--strategy", "sync-sdg"}, "sync-sgd"},
        {{"--platform", "ethernet-10g", "--nodes", "4..2"}, "by doubling"},
        {{"--platform", "ethernet-10g", "--set", "model.name=lenet", "--set", "data.name=synthetic"}, "remove model.name"}}) {
    const auto refused = own.dtctl.run(dt::test::with({"simulate", "own"}, words));
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains(what_to_do));
  }
}

TEST_CASE("one node of a simulation is as fast as the program was measured, though a pause hits another phase in each step")
{
  if (!has_torch()) return;
  const Own own(R"(
import time, torch
torch.manual_seed(0)
torch.set_num_threads(1)
model, step = torch.nn.Linear(64, 64), 0
class Paused(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
    def forward(self, x):
        if step % 3 == 0: time.sleep(0.03)
        return self.inner(x)
class Optimizer(torch.optim.SGD):
    def step(self):
        if step_is(1): time.sleep(0.03)
        super().step()
def step_is(n): return step % 3 == n
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1920
    def __getitem__(self, i):
        if i % 32 == 0 and (i // 32) % 3 == 2: time.sleep(0.03)
        return torch.ones(64)
network = Paused()
optimizer = Optimizer(network.parameters(), lr=1e-3)
for x in torch.utils.data.DataLoader(Data(), batch_size=32):
    optimizer.zero_grad()
    network(x).pow(2).mean().backward()
    optimizer.step()
    step += 1
)",
                "version: 1\nname: own\nprogram:\n  command: [" + python() +
                    ", train.py]\n  files: [train.py]\ntrain: {warmup_steps: 4}\n");
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  const double measured = own.dtctl.json({"query", "SELECT throughput FROM results"}).at("rows")[0].at("throughput");
  const auto answer =
      own.dtctl.json({"simulate", "own", "--platform", "ethernet-10g", "--nodes", "1", "--set", "train.steps=200"});
  INFO(answer.dump(1));
  const double simulated = answer.at("scaling")[0].at("throughput");
  CHECK(simulated / measured == Approx(1).epsilon(0.1)); // the medians of the phases would make it three times as fast
}
