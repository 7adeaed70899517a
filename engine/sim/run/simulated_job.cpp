#include "engine/sim/run/simulated_job.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/memory.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/spec/simulation_cost.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/sim/run/simulated_training.hpp"
#include "engine/sim/run/simulation.hpp"
#include "engine/train/loop/observer.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <simgrid/version.h>
#include <unistd.h>

namespace dt::sim {
namespace {

void say(const std::string& line)
{
  fmt::print(stderr, "dtsim: {}\n", line);
  std::fflush(stderr);
}

std::string simulator_version()
{
  return fmt::format("SimGrid {}.{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR, SIMGRID_VERSION_PATCH);
}

class SimulatedJob {
 public:
  explicit SimulatedJob(const SimulatedJobOptions& options) : attempt_(require_attempt(options.attempt)), writer_(attempt_) {}

  int run()
  {
    planned_ = read_planned_run(attempt_.run_folder());
    if (const auto refusal = writer_.begin(begin_record()); !refusal.empty()) return refused(refusal);
    writer_.start({.refused = end_at_once, .cancelled = [] { end_at_once("cancelled"); }});
    require_own_run();
    require_memory();
    print_start();
    const auto begin = std::chrono::steady_clock::now();
    auto result = simulate_run();
    const double real_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.facts["simulator"] = fmt::format("{}, {} of real time", simulator_version(), format_seconds(real_s));
    if (const auto refusal = writer_.commit(result); !refusal.empty()) return refused(refusal);
    fmt::print("{} steps in {} of simulated time, {:.1f} samples/s; the simulation took {}\n", result.steps,
               format_seconds(result.wall_s), result.throughput, format_seconds(real_s));
    return EXIT_SUCCESS;
  }

  [[noreturn]] void fail(const std::string& cause)
  {
    say(cause);
    try {
      if (writer_.has_begun())
        if (const auto refusal = writer_.fail(own_error(0, cause)); !refusal.empty()) say(refusal);
    } catch (const std::exception& another) {
      say(another.what());
    }
    std::fflush(stdout);
    std::_Exit(EXIT_FAILURE); // without the destructors of simulated ranks, which wait for each other
  }

 private:
  static int refused(const std::string& why)
  {
    say(why);
    return EXIT_FAILURE;
  }

  BeginRecord begin_record() const
  {
    const auto& spec = planned_.spec;
    BeginRecord begin;
    begin.unix_s = now_unix_s();
    begin.host = host_name();
    begin.pid = static_cast<int>(::getpid());
    begin.ranks = static_cast<int>(spec.ranks());
    begin.nodes = static_cast<int>(spec.resources.nodes);
    begin.threads_per_rank = static_cast<int>(spec.resources.threads_per_rank);
    for (std::int64_t rank = 0; rank < spec.ranks(); ++rank) {
      begin.rank_hosts.push_back(fmt::format("node{}", rank / spec.resources.ranks_per_node));
      begin.rank_masks.emplace_back();
    }
    begin.environment = {
        {"engine_build", own_build()}, {"simulator", simulator_version()}, {"platform", spec.resources.platform}};
    return begin;
  }

  static std::string own_build() { return read_build_id(own_program()); }

  void require_own_run() const
  {
    const auto path = spec_path(attempt_.run_folder());
    require_unaltered(planned_, path);
    if (!planned_.spec.is_simulated())
      throw Error(ErrorKind::run, path.string() + " names no platform (resources.platform); dtengine executes such a run.");
    if (planned_.data_id != simulation_input(planned_.spec))
      throw Error(ErrorKind::run,
                  fmt::format("train.compute_profile: {} has another content than when this run was planned. Submit the "
                              "recipe again: it becomes a new run.",
                              planned_.spec.train.compute_profile));
    if (planned_.engine_build != own_build())
      throw Error(
          ErrorKind::run,
          fmt::format("This run was planned for build {} of dtsim, but this program is build {}. Submit the recipe again: "
                      "it becomes a new run.",
                      printable(planned_.engine_build), own_build()));
  }

  void require_memory() const
  {
    const auto need = simulation_cost(planned_.spec).memory_bytes, available = static_cast<double>(machine_memory().available);
    if (available > 0 && need > available)
      throw Error(ErrorKind::run,
                  fmt::format("The simulation of {} ranks needs about {} of memory, and {} are available here. Simulate fewer "
                              "ranks, or run it on a machine with more memory.",
                              planned_.spec.ranks(), format_bytes(need), format_bytes(available)));
  }

  void print_start() const
  {
    const auto& spec = planned_.spec;
    fmt::print("dtsim, {}: {}, {} with allreduce {}, {} ranks on {} simulated nodes of {}\n", simulator_version(),
               spec.model.name.empty() ? "the program of " + spec.train.compute_profile : spec.model.name, spec.sync.strategy,
               spec.sync.allreduce, spec.ranks(), spec.resources.nodes, spec.resources.platform);
    std::fflush(stdout);
  }

  RunResult simulate_run()
  {
    const auto model = make_compute_model(planned_.spec);
    RunResult result;
    train::Observer silent;
    train::RecordingObserver root(writer_);
    simulate({.platform = platform_of(planned_.spec)}, [&](comm::Communicator& world) {
      auto own = train_simulated(planned_.spec, model, world, world.is_root() ? root : silent);
      if (world.is_root()) result = std::move(own);
    });
    return result;
  }

  // A simulation keeps no checkpoint, so it can end at any time.
  [[noreturn]] static void end_at_once(const std::string& why)
  {
    say(why);
    std::_Exit(EXIT_FAILURE);
  }

  AttemptFolder attempt_;
  PlannedRun planned_;
  AttemptWriter writer_;
};

} // namespace

int run_simulated_job(const SimulatedJobOptions& options)
{
  // The warning before a time limit asks for a checkpoint, which a simulation does not have: it uses the rest of its time.
  std::signal(SIGUSR1, SIG_IGN);
  SimulatedJob job(options);
  try {
    return job.run();
  } catch (const std::exception& error) {
    job.fail(error.what());
  }
}

} // namespace dt::sim
