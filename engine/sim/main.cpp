// dtsim: simulates ranks on a machine that is described in figures.
#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/spec/names.hpp"
#include "core/units.hpp"
#include "engine/bench/options.hpp"
#include "engine/sim/run/simulated_job.hpp"
#include "engine/sim/run/simulation.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace dt;
using namespace dt::bench;
using sim::Platform, sim::SimulatedJobOptions, sim::run_simulated_job;

// An option whose text has a unit. `parse` returns nothing for any other text; `example` shows how to write it.
void add_figure(CLI::App& app, const char* name, double& value, const char* help,
                std::optional<double> (*parse)(std::string_view), const char* example, const std::string& default_text)
{
  const auto take = [=, &value](const std::string& text) {
    const auto figure = parse(text);
    if (!figure) throw CLI::ValidationError(name, fmt::format("`{}` is not possible here; write it as {}", text, example));
    value = *figure;
  };
  app.add_option_function<std::string>(name, take, help)->default_str(default_text);
}

void add_rate(CLI::App& app, const char* name, double& value, const char* help)
{
  add_figure(app, name, value, help, parse_rate_bytes_per_s, "1 Gbit/s or 125 MB/s, above 0",
             fmt::format("{:g} MB/s", 1e-6 * value));
}

void add_time(CLI::App& app, const char* name, double& value, const char* help)
{
  add_figure(app, name, value, help, parse_short_time_s, "50us or 1.5ms", fmt::format("{:g}us", 1e6 * value));
}

void add_platform(CLI::App& app, Platform& platform)
{
  const char* group = "Platform";
  app.option_defaults()->group(group);
  app.add_option("--nodes", platform.nodes, "Number of nodes")->capture_default_str();
  app.add_option("--ranks-per-node", platform.ranks_per_node, "Ranks on each node")->capture_default_str();
  add_rate(app, "--bandwidth", platform.bandwidth, "Bandwidth of a node's link, in each direction");
  add_time(app, "--latency", platform.latency_s, "Latency from node to node");
  add_time(app, "--message-time", platform.message_s, "Time that a rank is busy with a message it sends or receives");
  app.add_option("--nodes-per-supernode", platform.nodes_per_supernode, "Consecutive nodes that share a switch; 0: all")
      ->capture_default_str();
  app.add_option("--trunk-share", platform.trunk_share,
                 "Bandwidth of a supernode's trunk, as a share of its nodes' links together")
      ->capture_default_str();
  add_time(app, "--trunk-latency", platform.trunk_latency_s, "Latency that the trunks add between two supernodes");
  add_rate(app, "--memory-bandwidth", platform.memory_bandwidth, "Bandwidth at which one rank reads and writes memory");
}

// Throws a usage error for an allreduce that dtsim cannot simulate: `gloo` sends over TCP itself, and `mpi` would be the
// algorithm of the simulator's MPI library.
void require_own(const std::string& allreduce)
{
  if (can_be_simulated(allreduce)) return;
  const auto* reason = allreduce == "gloo" ? "sends over TCP without MPI" : "uses the MPI library's own algorithm";
  throw Error(ErrorKind::usage, fmt::format("dtsim cannot simulate the allreduce {}, which {}. Take {}.", allreduce, reason,
                                            simulated_allreduces()));
}

int dispatch(int argc, char** argv)
{
  CLI::App app{"Simulates dtctl's communication on machines that are not there; all times that it prints are simulated", "dtsim"};
  app.require_subcommand(1);
  AllreduceBench allreduce{.algorithm = "ring", .repeats = 1, .warmup_repeats = 0, .simulated = true};
  add_allreduce(app, allreduce);
  StrategiesBench strategies{.allreduce = "ring", .simulated = true};
  add_strategies(app, strategies);
  sim::SimulationOptions options{.platform = {.nodes = 2}};
  for (auto* command : app.get_subcommands({})) add_platform(*command, options.platform);
  SimulatedJobOptions job;
  app.add_subcommand("run", "Simulate one attempt at a run; started by dtctl")
      ->add_option("--attempt", job.attempt, "The attempt's folder, <run>/attempts/<number>; the spec is <run>/spec.json")
      ->required();
  try {
    app.parse(argc, argv);
    sim::require_possible(options.platform);
    if (!app.got_subcommand("run")) require_own(app.got_subcommand("allreduce") ? allreduce.algorithm : strategies.allreduce);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  if (app.got_subcommand("run")) return run_simulated_job(job);
  allreduce.nodes_per_supernode = options.platform.nodes_per_supernode;
  strategies.nodes_per_supernode = options.platform.nodes_per_supernode;
  strategies.sleeps = true; // simulated time passes only while a rank sleeps
  int status = 0;
  sim::simulate(options, [&](comm::Communicator& world) {
    const int own = app.got_subcommand("allreduce") ? bench_allreduce(allreduce, world) : bench_strategies(strategies, world);
    if (world.is_root()) status = own;
  });
  return status;
}

} // namespace

int main(int argc, char** argv)
{
  return dt::run_program("dtsim", [&] { return dispatch(argc, argv); });
}
