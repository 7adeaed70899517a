// dtbench: benchmarks the parts of a training step.
#include "core/error.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "engine/bench/bench.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace dt;
using namespace dt::bench;

// An option whose words are the choices of an enumeration.
template<HasChoices Value> CLI::Option* add_choice(CLI::App& app, const char* name, Value& value, const char* help)
{
  return app
      .add_option_function<std::string>(
          name, [&value](const std::string& word) { value = choice_of<Value>(word); }, help)
      ->default_str(std::string(name_of(value)))
      ->check(CLI::IsMember(strings_of(choice_names<Value>())));
}

// Likewise, of several values with commas between them.
template<HasChoices Value> CLI::Option* add_choices(CLI::App& app, const char* name, std::vector<Value>& values, const char* help)
{
  std::vector<std::string> given;
  for (const auto value : values) given.emplace_back(name_of(value));
  const auto take = [&values](const std::vector<std::string>& words) {
    values.clear();
    for (const auto& word : words) values.push_back(choice_of<Value>(word));
  };
  return app.add_option_function<std::vector<std::string>>(name, take, help)
      ->delimiter(',')
      ->default_str("[" + join(given, ",") + "]")
      ->check(CLI::IsMember(strings_of(choice_names<Value>())));
}

void add_compute(CLI::App& app, ComputeBench& options)
{
  auto* compute = app.add_subcommand(
      "compute", "A training step: forward, loss, backward, momentum update, fixed random input; with mpirun on several ranks");
  compute->add_option("--model", options.model, "The network")->capture_default_str();
  compute->add_option("--batch", options.batch, "Samples a step")->capture_default_str()->check(CLI::PositiveNumber);
  compute->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  compute->add_option("--seconds", options.seconds, "Time to measure for")->capture_default_str()->check(CLI::PositiveNumber);
  compute->add_option("--steps", options.steps, "Steps to measure, instead of a time")->check(CLI::PositiveNumber);
  add_choice(*compute, "--precision", options.precision, "What kernels compute in");
  compute->add_flag("--reference", options.reference, "Plain loops in place of oneDNN's convolutions");
  compute->add_flag("--direct", options.direct, "No convolution by Winograd's algorithm");
  compute->add_flag("--profile", options.profile, "Every operation's time");
  compute->add_option("--allreduce", options.allreduce, "Of the gradients, between ranks")->capture_default_str();
  compute->add_flag("--json", options.json, "One JSON object");
}

void add_convolution(CLI::App& app, ConvolutionBench& options)
{
  auto* convolution =
      app.add_subcommand("convolution", "Every convolution of a model, as oneDNN computes it and as plain loops do");
  convolution->add_option("--model", options.models, "The networks, in turn")->delimiter(',')->capture_default_str();
  convolution->add_option("--batch", options.batch, "Samples a step")->capture_default_str()->check(CLI::PositiveNumber);
  convolution->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  convolution->add_flag("--json", options.json, "One JSON array");
}

void add_gradients(CLI::App& app, GradientsBench& options)
{
  auto* gradients = app.add_subcommand("gradients", "Loss and gradients of one batch, for another program to compare with");
  gradients->add_option("--model", options.model, "The network, in its paper's shape and classes")->capture_default_str();
  gradients->add_option("--input", options.input, "An .npz with images and labels")->required();
  gradients->add_option("--weights", options.weights, "An .npz with the weights; left out: from the seed");
  gradients->add_option("-o,--output", options.output, "The .npz to write")->required();
  gradients->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  gradients->add_flag("!--no-winograd", options.winograd, "No convolution by Winograd's algorithm");
}

void add_matmul(CLI::App& app, MatmulBench& options)
{
  auto* matmul = app.add_subcommand("matmul", "Products of two 512 x 512 matrices in single precision");
  matmul->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  matmul->add_option("--seconds", options.seconds, "Time to measure for")->capture_default_str()->check(CLI::PositiveNumber);
  matmul->add_flag("--json", options.json, "One JSON object");
}

void add_allreduce(CLI::App& app, AllreduceBench& options)
{
  auto* allreduce = app.add_subcommand("allreduce", "One allreduce over all ranks; start it with mpirun");
  allreduce->add_option("--bytes", options.bytes, "Size of the vector")->capture_default_str()->check(CLI::PositiveNumber);
  allreduce->add_option("--algorithm", options.algorithm, "The algorithm")->capture_default_str();
  allreduce->add_option("--seconds", options.seconds, "Time to measure for")->capture_default_str()->check(CLI::PositiveNumber);
  allreduce->add_flag("--json", options.json, "One JSON object");
}

void add_strategies(CLI::App& app, StrategiesBench& options)
{
  auto* strategies = app.add_subcommand(
      "strategies", "A step under each strategy: AlexNet's tensors, modelled computation, real messages; start it with mpirun");
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
  strategies->add_flag("--sleep", options.sleeps, "The computation sleeps, so that ranks may share a core");
  strategies->add_option("--steps", options.steps, "Steps to measure")->capture_default_str()->check(CLI::PositiveNumber);
  strategies->add_option("--period", options.period, "sync.period")->capture_default_str()->check(CLI::PositiveNumber);
  strategies->add_option("--servers", options.servers, "sync.servers; 0: Hogwild in one window of a node")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  strategies->add_flag("!--no-pack", options.pack, "A message a tensor");
  strategies->add_option("--allreduce", options.allreduce, "sync.allreduce")->capture_default_str();
  add_choice(*strategies, "--progress", options.progress, "sync.progress");
  strategies->add_flag("--json", options.json, "One JSON array");
}

void add_comm(CLI::App& app, CommBench& options)
{
  auto* comm =
      app.add_subcommand("comm", "All allreduces beside the MPI library's and Gloo's, size after size; start it with mpirun");
  comm->add_option("--algorithms", options.algorithms, "Which (all); ring:bfloat16 is ring with sync.wire: bfloat16")
      ->delimiter(',');
  comm->add_option("--least", options.least_bytes, "Smallest vector, in bytes")
      ->capture_default_str()
      ->check(CLI::Range(4, 1 << 30));
  comm->add_option("--most", options.most_bytes, "Largest vector, in bytes")
      ->capture_default_str()
      ->check(CLI::Range(4, 1 << 30));
  comm->add_option("--factor", options.factor, "From one size to the next")->capture_default_str()->check(CLI::Range(2, 1024));
  comm->add_option("--sizes", options.sizes, "Vectors of these many bytes instead")
      ->delimiter(',')
      ->check(CLI::Range(4, 1 << 30));
  comm->add_option("--seconds", options.seconds, "Time to measure a size for, all algorithms together")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  comm->add_option("--repeats", options.repeats, "Repetitions of each, instead of as many as fit into the time")
      ->check(CLI::PositiveNumber);
  comm->add_option("--fewest", options.fewest, "Repetitions of each at least")->capture_default_str()->check(CLI::PositiveNumber);
  comm->add_option(
          "--leave-out", options.leave_out,
          "Stop measuring an allreduce of ours when one sum takes over 0.25 s and is this many times slower than the fastest")
      ->check(CLI::Range(1.0, 1e6));
  comm->add_option("--nodes-per-supernode", options.nodes_per_supernode, "Consecutive nodes that hang on one switch")
      ->check(CLI::PositiveNumber);
  comm->add_option("--link-gbit", options.link_gbit,
                   "Bandwidth of a node's link: the bound is printed and the share of it reached")
      ->check(CLI::PositiveNumber);
  comm->add_option("--trunk-gbit", options.trunk_gbit, "Bandwidth of a supernode's trunk")->check(CLI::PositiveNumber);
  comm->add_option("--cache", options.cache, "Folder in which timings of this machine are kept");
  comm->add_option("--json-file", options.json_file, "Writes the result as JSON there too");
  comm->add_flag("--json", options.json, "One JSON object");
}

void add_overlap(CLI::App& app, OverlapBench& options)
{
  auto* overlap = app.add_subcommand(
      "overlap", "What of sync-sgd's communication hides behind a modelled backward pass, and what can; start it with mpirun");
  add_choices(*overlap, "--progress", options.progress, "sync.progress, in turn");
  overlap->add_option("--scale", options.scale, "Factor on AlexNet's parameters")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  overlap->add_option("--forward", options.forward_s, "Seconds of a forward pass")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  overlap->add_option("--backward", options.backward_s, "Seconds of a backward pass")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  overlap->add_flag("--sleep", options.sleeps, "The computation sleeps, so that ranks and threads may share a core");
  overlap->add_option("--steps", options.steps, "Steps to measure")->capture_default_str()->check(CLI::PositiveNumber);
  overlap->add_option("--bucket-bytes", options.bucket_bytes, "sync.bucket_bytes")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  overlap->add_option("--allreduce", options.allreduce, "sync.allreduce")->capture_default_str();
  overlap->add_flag("--json", options.json, "One JSON array");
}

int dispatch(int argc, char** argv)
{
  CLI::App app{"Measurements of dtctl's training engine", "dtbench"};
  app.require_subcommand(1);
  ComputeBench compute;
  add_compute(app, compute);
  MatmulBench matmul;
  add_matmul(app, matmul);
  ConvolutionBench convolution;
  add_convolution(app, convolution);
  AllreduceBench allreduce;
  add_allreduce(app, allreduce);
  StrategiesBench strategies;
  add_strategies(app, strategies);
  CommBench comm;
  add_comm(app, comm);
  OverlapBench overlap;
  add_overlap(app, overlap);
  GradientsBench gradients;
  add_gradients(app, gradients);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(dt::ExitCode::usage);
  }
  if (app.got_subcommand("overlap")) return bench_overlap(overlap);
  if (app.got_subcommand("gradients")) return bench_gradients(gradients);
  if (app.got_subcommand("strategies")) return bench_strategies(strategies);
  if (app.got_subcommand("convolution")) return bench_convolution(convolution);
  if (app.got_subcommand("matmul")) return bench_matmul(matmul);
  if (app.got_subcommand("comm")) return bench_comm(comm);
  return app.got_subcommand("compute") ? bench_compute(compute) : bench_allreduce(allreduce);
}

} // namespace

int main(int argc, char** argv)
{
  return dt::run_program("dtbench", [&] { return dispatch(argc, argv); });
}
