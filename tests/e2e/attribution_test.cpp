// A cause of lost efficiency is planted in a real run; most of the loss must appear in its factor.
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/random.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/processes.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <numeric>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

namespace fs = std::filesystem;

// LeNet on twelve ranks whose computation is modelled: 100 ms a step each, so that they can share the cores, also with other
// programs. `seed` makes it another run.
std::string modelled_recipe(const std::string& name, int seed)
{
  return "version: 1\nname: " + name +
         "\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 1024, test_samples: 32}\n"
         "train: {batch_per_rank: 4, steps: 40, warmup_steps: 3, modelled_rate: 40, eval_every_epochs: 0, seed: " +
         std::to_string(seed) +
         "}\n"
         "resources: {ranks_per_node: 12, threads_per_rank: 1, oversubscribe: true}\n";
}

Json point_of(const Dtctl& dtctl, const std::string& study)
{
  const auto points = dtctl.json({"results", study, "--why"}).at("why");
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

// The words of a process; empty if it has ended.
std::string command_line(const fs::path& process)
{
  try {
    return read_file_if_exists(process / "cmdline").value_or("");
  } catch (const Error&) { // it ended while it was read
    return "";
  }
}

// Processes of dtengine that work in this home.
std::vector<pid_t> ranks_of(const Dtctl& dtctl)
{
  std::vector<pid_t> ranks;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto words = command_line(entry.path());
    if (words.find("dtengine") != std::string::npos && words.find("mpirun") == std::string::npos &&
        words.find(dtctl.home().string()) != std::string::npos)
      ranks.push_back(std::stoi(name));
  }
  return test::without_children(ranks);
}

// Stops a rank again and again, for twice a step's time each, until the run has ended: another rank each time, or always the
// same.
class Pauses {
 public:
  Pauses(const Dtctl& dtctl, bool always_the_same) : thread_([this, &dtctl, always_the_same] { pause(dtctl, always_the_same); })
  {
  }
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;
  ~Pauses()
  {
    over_ = true;
    thread_.join();
  }

 private:
  static std::vector<std::size_t> shuffled(std::size_t count, Random& random)
  {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
  }

  void pause(const Dtctl& dtctl, bool always_the_same)
  {
    Random random(1);
    std::vector<std::size_t> order; // every rank once, in random order, so that none has more pauses than others
    while (!over_) {
      auto ranks = ranks_of(dtctl);
      if (ranks.size() < 12) continue;
      std::sort(ranks.begin(), ranks.end());
      if (order.empty()) order = shuffled(ranks.size(), random);
      const pid_t rank = ranks[always_the_same ? 5 : order.back()];
      order.pop_back();
      ::kill(rank, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ::kill(rank, SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

void run_clean(const Dtctl& dtctl, const std::string& name)
{
  REQUIRE(dtctl.json({"submit", name + ".yaml", "--wait"}).at("states") == Json{{"succeeded", 1}});
}

} // namespace

TEST_CASE("pauses of random ranks appear as jitter, and pauses of one rank as load imbalance")
{
  const Dtctl dtctl;
  for (int seed = 1; const std::string name : {"clean", "random", "one"})
    dtctl.write(name + ".yaml", modelled_recipe(name, seed++));
  run_clean(dtctl, "clean");
  const auto clean = point_of(dtctl, "clean");
  const double clean_rate = throughput_of(dtctl, "clean");
  for (const bool always_the_same : {false, true}) {
    const std::string study = always_the_same ? "one" : "random";
    {
      const Pauses pauses(dtctl, always_the_same);
      run_clean(dtctl, study);
    }
    const auto planted = point_of(dtctl, study);
    const double lost = std::log(throughput_of(dtctl, study) / clean_rate);
    INFO(planted.dump() << "\nclean " << clean.dump());
    CHECK(lost < std::log(0.9)); // the plant has taken at least a tenth
    CHECK(change_of(planted, clean, always_the_same ? "load_balance" : "jitter") <= 0.8 * lost);
  }
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
           "}\ntrain: {global_batch: 32, steps: 40, warmup_steps: 3, modelled_rate: 530, eval_every_epochs: 0}\n"
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
