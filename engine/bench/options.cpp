#include "engine/bench/options.hpp"

namespace dt::bench {
namespace {

const char* how_to_start(bool simulated) { return simulated ? "" : "; start it with mpirun"; }

} // namespace

void add_allreduce(CLI::App& app, AllreduceBench& options)
{
  auto* allreduce =
      app.add_subcommand("allreduce", std::string("One allreduce over all ranks") + how_to_start(options.simulated));
  allreduce->add_option("--bytes", options.bytes, "Size of the vector")->capture_default_str()->check(problem_of_vector_bytes);
  allreduce->add_option("--algorithm", options.algorithm, "The algorithm")->capture_default_str();
  if (!options.simulated) { // simulated times do not scatter, and the platform's options have the supernodes
    allreduce->add_option("--seconds", options.seconds, "Time to measure for")->capture_default_str()->check(CLI::PositiveNumber);
    allreduce->add_option("--nodes-per-supernode", options.nodes_per_supernode, "Consecutive nodes that share a switch; 0: all")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
  }
  allreduce->add_option("--repeats", options.repeats, "Repetitions to measure, instead of a time")->check(CLI::PositiveNumber);
  // Real repetitions without a warm-up would measure its cost, and without --repeats their number comes from the warm-up.
  allreduce->add_option("--warm-up", options.warmup_repeats, "Repetitions before")
      ->capture_default_str()
      ->check(options.simulated ? CLI::NonNegativeNumber : CLI::PositiveNumber);
  // Ranks of a number that is no power of two leave MPI's barrier up to two latencies apart.
  allreduce
      ->add_option("--calls", options.calls,
                   "Sums in a row of a repetition, whose mean counts: the barrier before them counts less")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  allreduce->add_flag("--json", options.json, "One JSON object");
}

void add_strategies(CLI::App& app, StrategiesBench& options)
{
  auto* strategies =
      app.add_subcommand("strategies", std::string("A step under each strategy: AlexNet's tensors, modelled computation") +
                                           how_to_start(options.simulated));
  strategies->add_option("--strategy", options.strategies, "Which, in turn; sync-easgd:1 is sync-easgd with overlap 1")
      ->delimiter(',')
      ->capture_default_str();
  strategies->add_option("--workers", options.workers, "Ranks that train; servers come on top")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  strategies->add_option("--scale", options.scale, "Factor on the parameters")->capture_default_str()->check(CLI::PositiveNumber);
  strategies->add_option("--compute", options.compute_s, "Seconds of computation a step")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  if (!options.simulated) // it always does there
    strategies->add_flag("--sleep", options.sleeps, "The computation sleeps, so that ranks may share a core");
  strategies->add_option("--steps", options.steps, "Steps to measure")->capture_default_str()->check(CLI::PositiveNumber);
  strategies->add_option("--period", options.period, "sync.period")->capture_default_str()->check(CLI::PositiveNumber);
  strategies->add_option("--fragments", options.fragments, "sync.outer.fragments, of diloco")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  strategies->add_option("--delay", options.delay, "sync.outer.delay, of diloco")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  add_choice(*strategies, "--wire", options.wire, "sync.wire");
  strategies->add_option("--servers", options.servers, "sync.servers; 0: Hogwild in one window of a node")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  strategies->add_option("--server-threads", options.server_threads, "sync.server_threads, of Hogwild's servers")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  strategies->add_flag("!--no-pack", options.pack, "A message a tensor");
  strategies->add_option("--allreduce", options.allreduce, "sync.allreduce")->capture_default_str();
  add_choice(*strategies, "--progress", options.progress, "sync.progress");
  strategies->add_flag("--json", options.json, "One JSON array");
}

} // namespace dt::bench
