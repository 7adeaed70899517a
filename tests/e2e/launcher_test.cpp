// Programs that start their ranks themselves (program.launch: per-node), with the real torchrun: ranks, samples and phases of an
// unchanged script, restarts, and failures. What is asserted are counts, never times.
#include "tests/e2e/own_program.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::connects;
using dt::test::has_torch;
using dt::test::Json;
using dt::test::Own;

namespace {

// 320 samples in 10 steps of an epoch on 2 ranks. `in_step`: lines within the loop.
std::string distributed_script(const std::string& in_step = "")
{
  return R"(
import os
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.randn(320, 20)
train = TensorDataset(x, (x.sum(1) > 0).long())
dist.init_process_group("gloo")
rank = dist.get_rank()
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for i, (a, b) in enumerate(DataLoader(train, batch_size=16, sampler=DistributedSampler(train))):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
)" + in_step;
}

// torch 1.13 on Python 3.11 (Debian 12) does not start without a redirection for some rank: here for one that does not exist.
const std::string working_options = "--redirects, '9:1', --tee, '9:1', ";

std::string torchrun_recipe(const std::string& options = "", int ranks = 2)
{
  return "version: 1\nname: own\nprogram:\n  command: [" + dt::test::python() + ", -m, torch.distributed.run, " +
         working_options + options +
         "train.py]\n  files: [train.py]\n  launch: per-node\ntrain: {warmup_steps: 4}\nresources: {ranks_per_node: " +
         std::to_string(ranks) + "}\n";
}

} // namespace

TEST_CASE("torchrun starts the ranks of an unchanged script: each is observed, and the run has the samples of all")
{
  if (!has_torch()) return;
  const Own own(distributed_script(), torchrun_recipe());
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.measured_samples == 16 * 32);
  REQUIRE(result.ranks.size() == 2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(result.ranks[rank].rank == static_cast<int>(rank));
    CHECK_FALSE(result.ranks[rank].host.empty());
    for (const auto phase : {dt::Phase::input, dt::Phase::forward, dt::Phase::backward, dt::Phase::optimizer})
      CHECK(result.ranks[rank].phases[static_cast<std::size_t>(phase)].total_s > 0);
  }
  CHECK(result.communication_share > 0);
  CHECK(result.work.useful_s > 0);
  CHECK(result.buckets.size() == 1);
  CHECK(result.facts.at("observed").starts_with("PyTorch "));
  CHECK_FALSE(result.facts.contains("restarts"));
  const auto begin = dt::read_begin(own.attempt());
  REQUIRE(begin);
  CHECK(begin->rank_hosts.size() == 2);
  CHECK(begin->environment.at("program_launch") == "per-node");
}

TEST_CASE("a study with torchrun has a size of one rank, too")
{
  if (!has_torch()) return;
  const Own own(distributed_script(), torchrun_recipe("", 1));
  const auto result = result_of(own);
  CHECK(result.ranks.size() == 1);
  CHECK(result.steps == 40);
  CHECK(result.measured_samples == 36 * 16);
}

TEST_CASE("workers that torchrun has restarted are told, and the steps before that count nowhere")
{
  if (!has_torch()) return;
  const Own own(distributed_script(R"(
        if rank == 1 and epoch == 0 and i == 6 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            raise RuntimeError("a passing trouble")
)"),
                torchrun_recipe("--max_restarts, '1', "));
  const auto result = result_of(own);
  const std::string told = "torchrun restarted the workers 1 time";
  CHECK_THAT(result.facts.at("restarts"), Contains(told));
  CHECK(own.dtctl.run({"logs", "own"}).out.find(told) != std::string::npos);
  CHECK(result.ranks.size() == 2);
  CHECK(result.measured_samples == 15 * 32); // where the second training begins is not known: its first step is left out, too
  CHECK(own.dtctl.json({"query", "SELECT count(*) AS n FROM steps"}).at("rows")[0].at("n") == 20);
}

TEST_CASE("a rank that torchrun has started and that fails is the cause, with its exit code and last words or its exception")
{
  if (!has_torch()) return;
  const auto [how, cause] = GENERATE(
      table<std::string, std::string>({{"print('the data of rank 1 are missing', file=sys.stderr, flush=True); os._exit(3)",
                                        "exit code 3: the data of rank 1 are"},
                                       {"raise ValueError('no such label')", "ValueError: no such label"}}));
  const Own own(distributed_script("        if rank == 1 and i == 6: " + how + "\n"), torchrun_recipe());
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(), Contains("rank 1 on ") && Contains(cause));
}

TEST_CASE("a launcher that starts another number of ranks than the recipe says fails the run, with what to do")
{
  if (!has_torch()) return;
  const Own own(distributed_script(), torchrun_recipe("--nproc_per_node, '1', "));
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(), Contains("has started 1 rank in all") && Contains("--nproc-per-node"));
}

TEST_CASE("the command of a launcher that reads no variables by itself takes them from the shell")
{
  const std::string script =
      connects + "import dtctl_report as report\nreport.begin()\nfor i in range(8): report.step(loss=1.0 + rank, samples=10)\n"
                 "report.result()\n";
  const Own own(
      script,
      "version: 1\nname: own\nprogram:\n  command: [bash, -c, 'test \"$DTCTL_NODE_RANK $DTCTL_NODES\" = \"0 1\" && test -n "
      "\"$MASTER_PORT\" && for i in $(seq 0 $((DTCTL_RANKS_PER_NODE - 1))); do RANK=$i WORLD_SIZE=$DTCTL_RANKS_PER_NODE "
      "python3 train.py & done; wait']\n  files: [train.py]\n  launch: per-node\ntrain: {warmup_steps: 4}\n"
      "resources: {ranks_per_node: 2}\n");
  const auto result = result_of(own);
  CHECK(result.ranks.size() == 2);
  CHECK(result.measured_samples == 4 * 20);
}

namespace {

const std::string strategy_script = R"(
import torch
import dtctl_sync as sync
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.randn(320, 20)
model = nn.Linear(20, 2)
model, optimizer = sync.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
for epoch in range(2):
    for a, b in sync.batches(DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), 16)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
)";

} // namespace

TEST_CASE("ranks that torchrun starts train under a strategy of the recipe, without MPI")
{
  if (!has_torch()) return;
  const auto& script = strategy_script;
  const auto restarts = GENERATE(false, true);
  const std::string fails =
      "        if sync.training().rank == 1 and epoch == 0 and __import__('os').environ['TORCHELASTIC_RESTART_COUNT'] == '0': "
      "raise RuntimeError('a passing trouble')\n";
  const Own own(restarts ? script + fails : script,
                torchrun_recipe(restarts ? "--max_restarts, '1', " : "") + "sync: {strategy: diloco, period: 4}\n");
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.ranks.size() == 2);
  CHECK(result.facts.at("transport") == "TCP connections, without MPI");
  CHECK(result.facts.contains("restarts") == restarts);
  CHECK(result.ranks.front().bytes_sent > 0);
}

TEST_CASE("ranks that mpirun starts exchange over TCP if the recipe says so, beside a process group of the script")
{
  if (!has_torch()) return;
  const auto after = strategy_script.find("for epoch");
  auto script = strategy_script;
  script.insert(after, "torch.distributed.init_process_group('gloo')\ntorch.distributed.barrier()\n");
  const Own own(script, "version: 1\nname: own\nprogram:\n  command: [" + dt::test::python() +
                            ", train.py]\n  files: [train.py]\ntrain: {warmup_steps: 4}\nresources: {ranks_per_node: 2}\n"
                            "sync: {strategy: local-sgd, period: 4, transport: tcp}\n");
  const auto result = result_of(own);
  CHECK(result.steps == 20);
  CHECK(result.ranks.size() == 2);
  CHECK(result.facts.at("transport") == "TCP connections, without MPI");
}
