// Ranks that exchange nothing, or train with the same batches, are no scaling; ranks that train together are never called copies.
#include "tests/e2e/own_program.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using dt::test::connects;
using dt::test::has_torch;
using dt::test::Json;
using dt::test::Own;
using dt::test::python;
using dt::test::result_of;

namespace {

// An ordinary PyTorch script, with what it does before its first step, to its gradients, and in place of its sampler.
std::string script(const std::string& before, const std::string& with_gradients = "pass", const std::string& sampler = "None")
{
  return R"(
import os, torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
torch.set_num_threads(1)
torch.manual_seed(1)
train = TensorDataset(torch.randn(320, 20), torch.randn(320, 1))
model = nn.Linear(20, 1)
)" + before +
         R"(
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in DataLoader(train, batch_size=32, sampler=)" +
         sampler + R"():
        optimizer.zero_grad()
        loss = (model(a) - b).pow(2).mean()
        loss.backward()
        )" +
         with_gradients +
         R"(
        optimizer.step()
)";
}

const std::string group = "dist.init_process_group('gloo')\n";

std::string recipe(const std::string& study, const std::string& program = "")
{
  return "version: 1\nname: own\nprogram:\n  command: [" + python() + ", train.py]\n  files: [train.py]\n" + program + study +
         "\n";
}
const std::string two_ranks = "resources: {ranks_per_node: 2}";

// Programs of two ranks each, and how their caveat `copies` begins; nullptr: they have none, and a throughput.
struct Doubted {
  const char* name;
  std::string source;
  const char* copies;
};

void check_copies(const std::vector<Doubted>& doubted, const std::string& interpreter = "python3",
                  const std::string& metrics = "")
{
  std::map<std::string, std::string> sources;
  for (const auto& program : doubted) sources[program.name] = program.source;
  const dt::test::Programs programs(sources, two_ranks + "\n", interpreter, metrics);
  for (const auto& program : doubted) {
    INFO(program.name);
    const auto result = programs.result(program.name);
    REQUIRE(result.caveats.contains("copies") == (program.copies != nullptr));
    CHECK(std::isnan(result.throughput) == (program.copies != nullptr));
    CHECK_FALSE(result.caveats.contains("exchange"));
    if (program.copies != nullptr) CHECK_THAT(result.caveats.at("copies"), Catch::StartsWith(program.copies));
  }
}

// A program without PyTorch that prints or reports losses.
std::string plain(const std::string& begin, const std::string& loss, int steps = 8)
{
  return "import os, time\nimport dtctl_report as report\nrank = int(os.environ['RANK'])\n" + begin +
         "\nreport.begin()\nfor i in range(" + std::to_string(steps) + "):\n    time.sleep(0.002)\n    report.step(loss=" + loss +
         ", samples=10)\nreport.result()\n";
}

} // namespace

TEST_CASE("two copies of a script have neither throughput nor speed-up anywhere, and results say so first")
{
  if (!has_torch()) return;
  const Own own(script(""), recipe("study: {mode: strong, ranks: [1, 2]}"));
  REQUIRE(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  const auto results = own.dtctl.json({"results", "own"});
  INFO(results.dump(1));
  CHECK(results.at("scales").at("answer") == "no");
  const std::string why =
      "the 2 ranks are 2 copies of one training: they exchange nothing, and their losses are equal in all 20 steps";
  CHECK_THAT(results.at("verdict").at("sentences")[0].get<std::string>(), Catch::StartsWith("It does not scale: " + why));
  CHECK(results.at("caveats")[0].at("kind") == "copies");
  const auto point =
      own.dtctl.json({"query", "SELECT throughput, speedup, efficiency, copies FROM scaling WHERE ranks = 2"}).at("rows")[0];
  CHECK(point.at("copies") == 1);
  for (const auto* figure : {"throughput", "speedup", "efficiency"}) CHECK(point.at(figure).is_null());
  const auto text = own.dtctl.run({"results", "own"}).out;
  CHECK(text.find("scales") < text.find("samples/s"));
  CHECK(own.dtctl.run({"results", "own", "--why"}).out.find("\n    1      2 ") == std::string::npos); // no row of two ranks
  CHECK_THAT(own.dtctl.run({"report", "own", "--format", "markdown"}).out, Catch::Contains("| 1 | 2 | 1 | - | - |"));
  CHECK(own.dtctl.run({"plot", "own", "--kind", "speedup", "--format", "csv"}).out.empty());
  for (const dt::test::Words& words :
       {dt::test::Words{"plot", "own", "--kind", "efficiency"}, {"predict", "own", "--ranks", "4"}}) {
    const auto refused = own.dtctl.run(words);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains(why));
  }
  REQUIRE(own.dtctl.run({"export", "own", "--format", "json", "-o", "old.json"}).exit_code == 0);
  const auto compared = own.dtctl.run({"compare", "own", "--reference", "old.json"});
  CHECK(compared.exit_code == 1);
  CHECK_THAT(compared.out, Catch::Contains("do not train together"));
}

TEST_CASE(
    "PyTorch scripts whose ranks exchange nothing, sum nothing or have the same batches are copies, those that train together "
    "are none")
{
  if (!has_torch()) return;
  const std::string sampler = "DistributedSampler(train)",
                    parallel = group + "model = nn.parallel.DistributedDataParallel(model)";
  auto equal_losses = script(parallel, "pass", sampler);
  equal_losses.insert(equal_losses.find("        loss.backward()"), "        dist.all_reduce(loss)\n");
  check_copies({{"seeds", script("torch.manual_seed(int(os.environ['RANK']))\nmodel = nn.Linear(20, 1)"),
                 "the 2 ranks exchange nothing: they are 2 trainings of their own"},
                {"no_sums", script(group), "the 2 ranks are 2 copies of one training: they exchange no gradients"},
                {"no_sampler", script(parallel), "the 2 ranks train with the same batches"},
                {"parallel", script(parallel, "pass", sampler) + "dist.destroy_process_group()\n", nullptr},
                {"sums", script(group, "for p in model.parameters(): dist.all_reduce(p.grad)", sampler), nullptr},
                {"equal_losses", equal_losses, nullptr}},
               python());
  const Own one(script(""), recipe("resources: {ranks_per_node: 1}"));
  CHECK_FALSE(result_of(one).caveats.contains("copies"));
}

TEST_CASE(
    "a program that reports by itself is called copies if it has nothing to exchange with, and is believed if it communicates")
{
  check_copies({{"alone", plain("", "1 / (i + 1)"), "the 2 ranks are 2 copies of one training: they exchange nothing"},
                {"communicates", plain("", "1 / (i + 1), phases={'communication': 0.001}"), nullptr},
                {"own_losses", plain(connects, "1 / (i + 1) + rank"), nullptr}});
  const Own unseen(plain(connects, "1 / (i + 1)"), recipe(two_ranks));
  CHECK_FALSE(result_of(unseen).caveats.contains("copies"));
}

TEST_CASE("of a program whose output is searched, the processes of the ranks tell whether it exchanges anything")
{
  const std::string loop = "for i in range(60):\n    time.sleep(0.05)\n    print('step', i + 1, 'loss', 1 / (i + 1), '10 samples "
                           "in 0.05 s', flush=True)\n";
  const std::string begin = "import os, time\nrank = int(os.environ['RANK'])\n";
  const std::string metrics =
      "  metrics: {step: 'step (\\d+)', loss: 'loss (\\S+)', samples: '(\\d+) samples', step_s: 'in (\\S+) s'}\n";
  check_copies({{"alone", begin + loop, "the 2 ranks exchange nothing"}, {"connected", begin + connects + loop, nullptr}},
               "python3", metrics);
}

TEST_CASE("copies that torchrun has started are copies")
{
  if (!has_torch()) return;
  const Own own(script(""),
                "version: 1\nname: own\nprogram:\n  command: [" + python() +
                    ", -m, torch.distributed.run, --redirects, '9:1', --tee, '9:1', train.py]\n  files: [train.py]\n  launch: "
                    "per-node\n" +
                    two_ranks + "\n");
  CHECK_THAT(result_of(own).caveats["copies"], Catch::StartsWith("the 2 ranks are 2 copies of one training"));
}
