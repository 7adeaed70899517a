// A PyTorch script of the user under dtctl's strategies (dtctl_sync), from the recipe to the record.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/trace_record.hpp"
#include "tests/e2e/compute_profile.hpp"
#include "tests/e2e/own_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <catch2/catch.hpp>

using dt::test::has_torch;
using dt::test::Json;
using dt::test::Own;
using dt::test::python;
using dt::test::result_of;
using dt::test::trainer;

namespace {

std::string sync_recipe(const std::string& more, const std::string& train = "warmup_steps: 4")
{
  return "version: 1\nname: own\nprogram:\n  command: [" + python() + ", train.py]\n  files: [train.py]\ntrain: {" + train +
         "}\n" + more;
}

// An ordinary loop with two lines more.
const std::string script = R"(
import torch
import dtctl_sync as sync

torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(512, 20)
labels = (images.sum(1) > 0).long()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=16, shuffle=True)
model, optimizer = sync.prepare(model, optimizer)
for epoch in range(3):
    for x, y in sync.batches(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
with sync.training().evaluation():
    accuracy = (model(images).argmax(1) == labels).float().mean().item()
sync.training().report_evaluation(accuracy)
)";

} // namespace

TEST_CASE("a PyTorch script trains under the recipe's strategy, and the run has phases, traffic and what the strategy chose")
{
  if (!has_torch()) return;
  const Own own(script,
                sync_recipe("sync: {strategy: sync-sgd, allreduce: ring, progress: poll}\nresources: {ranks_per_node: 2}\n",
                            "warmup_steps: 4, noise_scale: 2"));
  const auto result = result_of(own);
  CHECK(result.noise.value > 0); // 22 looks
  CHECK(result.noise.low < result.noise.value);
  CHECK(result.steps == 48); // 512 samples, 2 ranks of 16
  CHECK(result.measured_samples == 44 * 32);
  CHECK(result.accuracy.value_or(0) > 0.8);
  CHECK(result.communication_share > 0);
  CHECK(result.isolated_communication_s > 0);
  CHECK(result.work.useful_s > 0);
  CHECK(result.weights_hash.size() == 32);
  REQUIRE(result.buckets.size() == 1);
  CHECK(result.buckets[0].bytes == 4 * (336 + 32 + 48 + 16)); // with room for each tensor's presence, in whole lines
  REQUIRE(result.ranks.size() == 2);
  const auto profile = dt::read_compute_profile(own.attempt().path_of(dt::AttemptFile::compute_profile).string());
  CHECK(profile.batch == 16);
  CHECK(dt::test::parameters_of(profile) == 320 + 16 + 32 + 2);
  CHECK(result.ranks[1].messages_sent > 0);
  const auto row =
      own.dtctl.json({"query", "SELECT sync_strategy, sync_progress, bytes_sent FROM results JOIN runs ON runs.id = run_id"})
          .at("rows")[0];
  CHECK(row.at("sync_strategy") == "sync-sgd");
  CHECK(row.at("sync_progress") == "poll");
}

TEST_CASE("a traced PyTorch script has a timeline of every rank: its phases within its steps, and its messages")
{
  if (!has_torch()) return;
  const Own own(script, sync_recipe("sync: {strategy: local-sgd, period: 4, allreduce: ring}\nresources: {ranks_per_node: 2}\n",
                                    "warmup_steps: 4, trace: true"));
  result_of(own);
  for (const int rank : {0, 1}) {
    const auto record = dt::parse_trace(dt::read_file(dt::trace_path(own.attempt(), rank)));
    REQUIRE(record);
    CHECK(record->role == "worker");
    const auto name_of = [&](const dt::TraceSpan& span) { return record->names.at(static_cast<std::size_t>(span.name)); };
    const auto is_phase = [&](const dt::TraceSpan& span) {
      return record->names.at(static_cast<std::size_t>(span.track)) == "training";
    };
    std::map<std::int64_t, dt::TraceSpan> steps;
    for (const auto& span : record->spans)
      if (name_of(span) == "step") steps[span.step] = span;
    CHECK(steps.size() == 48);
    std::map<std::string, int> counts;
    for (const auto& span : record->spans) {
      const auto name = name_of(span);
      ++counts[name];
      if (!is_phase(span) || name == "step") continue;
      const auto& step = steps.at(span.step);
      INFO(name << " of step " << span.step);
      CHECK(span.begin_ns >= step.begin_ns);
      CHECK(span.begin_ns + span.length_ns <= step.begin_ns + step.length_ns);
    }
    for (const auto* phase : {"input", "forward", "backward"}) CHECK(counts[phase] == 48);
    CHECK(counts["communication"] >= 12);
    CHECK(std::ranges::any_of(record->spans, [](const auto& span) { return span.bytes > 0; }));
  }
  CHECK(own.dtctl.run({"export", "--format", "trace", "own", "--steps", "9-12", "-o", "trace.json"}).ok());
}

TEST_CASE("a parameter server of a PyTorch script has no steps, and the workers' staleness is recorded")
{
  if (!has_torch()) return;
  const Own own(
      script,
      sync_recipe("sync: {strategy: async-sgd}\noptimizer: {name: sgd}\nresources: {ranks_per_node: 3, oversubscribe: true}\n"));
  const auto result = result_of(own);
  REQUIRE(result.ranks.size() == 3);
  CHECK(result.ranks[2].role == "server");
  CHECK(result.staleness.updates == 2 * 48);
  CHECK(result.measured_samples == 44 * 32);
  CHECK(result.throughput > 0);
}

TEST_CASE("a program whose recipe has sync but which does not train with it has failed")
{
  const Own own(trainer(),
                "version: 1\nname: own\nprogram: {command: [python3, train.py], files: [train.py]}\nsync: {period: 1}\n");
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(), Catch::Contains("began no training"));
}

TEST_CASE("a program that is a point of a sweep does not train under a strategy that nobody gave it")
{
  if (!has_torch()) return;
  const Own own(script,
                "version: 1\nname: own\nprogram: {files: [train.py]}\nsync: {strategy: local-sgd, period: 4}\nsweep: {matrix: "
                "{program.command: [[" +
                    python() + ", train.py]]}}\n");
  CHECK(own.submit("sweep").at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.dtctl.run({"logs", "own"}).out, Catch::Contains("no strategy"));
}
