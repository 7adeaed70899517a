// A cause of lost efficiency is planted in a real run; most of the loss must appear in its factor.
#include "core/machine/process.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/ranks_of.hpp"
#include "tests/support/busy_loop.hpp"
#include "tests/support/eventually.hpp"

#include <cmath>
#include <span>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <sched.h>

using namespace dt;
using dt::test::BusyLoop;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Json;
using dt::test::ranks_of;

namespace {

namespace fs = std::filesystem;

constexpr int warmup_steps = 3;

// Sixteen ranks whose computation is modelled, so that they can share the cores, also with other programs: a step takes
// batch / rate seconds. `seed` makes it another run.
std::string modelled_recipe(const std::string& name, int seed, const std::string& model, int batch, int rate)
{
  return fmt::format("version: 1\nname: {}\nmodel: {}\ndata: {{name: synthetic, channels: 1, height: 28, width: 28, "
                     "train_samples: 1024, test_samples: 32}}\n"
                     "train: {{batch_per_rank: {}, steps: 33, modelled_rate: {}, eval_every_epochs: 0, warmup_steps: {}, "
                     "seed: {}}}\nsync: {{progress: none}}\n"
                     "resources: {{ranks_per_node: 16, threads_per_rank: 1, oversubscribe: true}}\n",
                     name, model, batch, rate, warmup_steps, seed);
}

Json point_of(const Dtctl& dtctl, const std::string& study)
{
  const auto answer = dtctl.json({"results", study, "--why"});
  CHECK(answer.at("pop_names").at("jitter") == "serialisation efficiency");
  const auto& points = answer.at("why");
  REQUIRE(points.size() == 1);
  return points[0];
}

double throughput_of(const Dtctl& dtctl, const std::string& study)
{
  return dtctl.json({"results", study}).at("scaling")[0].at("throughput").get<double>();
}

// ln(planted / clean) of a factor.
double change_of(const Json& planted, const Json& clean, const std::string& factor)
{
  return std::log(planted.at("factor_" + factor).get<double>() / clean.at("factor_" + factor).get<double>());
}

std::int64_t steps_of(const Dtctl& dtctl, const std::string& study)
{
  const auto run = dtctl.json({"status", study}).at("runs")[0];
  return run.at("progress").is_object() ? run.at("progress").at("step").get<std::int64_t>() : 0;
}

void run_clean(const Dtctl& dtctl, const std::string& name)
{
  REQUIRE(dtctl.json({"submit", name + ".yaml", "--wait"}).at("states") == Json{{"succeeded", 1}});
}

// Keeps a rank with all its threads on these cores.
void pin(pid_t rank, std::span<const int> cores)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  for (const auto& thread : fs::directory_iterator(fs::path("/proc") / std::to_string(rank) / "task"))
    REQUIRE(::sched_setaffinity(std::stoi(thread.path().filename().string()), sizeof set, &set) == 0);
}

// At least 80 % of what `planted` lost against `clean` must be in the factor.
void check_loss(const Dtctl& dtctl, const std::string& clean, const std::string& planted, const std::string& factor)
{
  const auto before = point_of(dtctl, clean), after = point_of(dtctl, planted);
  const double lost = std::log(throughput_of(dtctl, planted) / throughput_of(dtctl, clean));
  INFO(after.dump() << "\nclean " << before.dump());
  CHECK(lost < std::log(0.9)); // the plant has taken at least a tenth
  CHECK(change_of(after, before, factor) <= 0.8 * lost);
}

} // namespace

TEST_CASE("passes that are slow on one rank after another appear as jitter")
{
  const Dtctl dtctl;
  dtctl.write("clean.yaml", modelled_recipe("clean", 1, "{name: lenet}", 4, 40));
  dtctl.write("slow.yaml", modelled_recipe("slow", 2, "{name: lenet}", 4, 40));
  run_clean(dtctl, "clean");
  const auto submitted = dtctl.json({"submit", "slow.yaml", "--wait", "--set", "resources.env.DTCTL_TEST_CAUSE=jitter", "--set",
                                     "resources.env.LD_PRELOAD=" DTCTL_BINARY_DIR "/tests/libplanted_cause.so", "--set",
                                     "resources.env.ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"});
  REQUIRE(submitted.at("states") == Json{{"succeeded", 1}});
  check_loss(dtctl, "clean", "slow", "jitter");
}

TEST_CASE("a busy neighbour on the core of one rank appears as load imbalance")
{
  const Dtctl dtctl;
  // Few parameters: the neighbour takes its time from the rank's computation, not from its communication.
  const std::string model = "{layers: [{max_pooling: {kernel: 7, stride: 7}}, {inner_product: {outputs: classes}}]}";
  dtctl.write("clean.yaml", modelled_recipe("clean", 1, model, 4, 16));
  dtctl.write("busy.yaml", modelled_recipe("busy", 2, model, 4, 16));
  run_clean(dtctl, "clean");
  dtctl.json({"submit", "busy.yaml"});
  REQUIRE(eventually([&] { return steps_of(dtctl, "busy") > warmup_steps; }));
  {
    const auto mask = cores_in_mask();
    const std::span<const int> cores(mask), first = cores.first(1), others = cores.size() > 1 ? cores.subspan(1) : cores;
    const auto ranks = ranks_of(dtctl);
    REQUIRE(ranks.size() == 16);
    for (const pid_t rank : ranks) pin(rank, rank == ranks[5] ? first : others);
    const BusyLoop neighbour(first[0], BusyLoop::Kind::bursts);
    REQUIRE(dtctl.json({"status", "--follow", "busy"}).at("states") == Json{{"succeeded", 1}});
  }
  check_loss(dtctl, "clean", "busy", "load_balance");
}

TEST_CASE("batches that are made while the rank waits appear as input")
{
  const Dtctl dtctl;
  const auto recipe = [](const std::string& name, int prefetch) {
    return "version: 1\nname: " + name +
           "\nmodel:\n  layers:\n    - max_pooling: { kernel: 16, stride: 16 }\n    - inner_product: { outputs: classes }\n"
           "data: {name: synthetic, channels: 3, height: 224, width: 224, train_samples: 128, test_samples: 16, "
           "prefetch_batches: " +
           std::to_string(prefetch) +
           "}\ntrain: {global_batch: 32, steps: 33, warmup_steps: 3, modelled_rate: 530, eval_every_epochs: 0}\n"
           "optimizer: {name: sgd, learning_rate: 0.0001}\n";
  };
  dtctl.write("ahead.yaml", recipe("ahead", 2));
  dtctl.write("late.yaml", recipe("late", 0));
  run_clean(dtctl, "ahead");
  run_clean(dtctl, "late");
  const auto clean = point_of(dtctl, "ahead"), planted = point_of(dtctl, "late");
  // Without the computation, which other programs may slow down in one of the runs.
  const double lost = std::log(planted.at("efficiency").get<double>() / clean.at("efficiency").get<double>());
  INFO(planted.dump() << "\nclean " << clean.dump());
  CHECK(lost < std::log(0.95));
  CHECK(change_of(planted, clean, "input") <= 0.8 * lost);
}
