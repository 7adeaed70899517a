// dtbench: benchmarks the parts of a training step.
#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "engine/bench/bench.hpp"
#include "engine/bench/options.hpp"
#include "engine/comm/mpi_world.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace dt;
using namespace dt::bench;

void add_compute(CLI::App& app, ComputeBench& options)
{
  auto* compute = app.add_subcommand(
      "compute", "A training step: forward, loss, backward, momentum update, fixed random input; with mpirun on several ranks");
  compute->add_option("--model", options.model, "The network")->capture_default_str();
  compute->add_option("--batch", options.batch, "Samples a step")->capture_default_str()->check(CLI::PositiveNumber);
  compute->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  compute
      ->add_option("--seconds", options.seconds,
                   "Time to measure for, at least 10 steps; with --profile 50, unless these take over a minute")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  compute->add_option("--steps", options.steps, "Steps to measure, instead of a time")->check(CLI::PositiveNumber);
  add_choice(*compute, "--precision", options.precision, "What kernels compute in");
  compute->add_flag("--reference", options.reference, "Plain loops in place of the fast convolutions");
  compute
      ->add_option("--algorithms", options.algorithms,
                   "How the algorithms of the convolutions are chosen: by the rules of the program, as in trainings, or timed at "
                   "the start")
      ->check(CLI::IsMember({"timed", "rules"}))
      ->capture_default_str();
  compute->add_flag("--library", options.library, "No layers in image lanes");
  compute->add_option("--cache", options.cache, "Folder in which timed choices of this machine are kept");
  compute->add_flag("--direct", options.direct, "No convolution by Winograd's algorithm");
  auto* profile =
      compute->add_flag("--profile", options.profile,
                        "Every operation's time, with the model's dropout; in the JSON also a compute profile for dtsim");
  compute->add_option("--profile-file", options.profile_file, "Writes the compute profile there")->needs(profile);
  compute->add_option("--allreduce", options.allreduce, "Of the gradients, between ranks")->capture_default_str();
  compute->add_flag("--json", options.json, "One JSON object");
}

void add_convolution(CLI::App& app, ConvolutionBench& options)
{
  auto* convolution = app.add_subcommand(
      "convolution",
      "Every convolution of a model: the engine's layers beside im2col with OpenBLAS, as in Caffe, and plain loops");
  convolution->add_option("--model", options.models, "The networks, in turn")->delimiter(',')->capture_default_str();
  convolution->add_option("--batch", options.batch, "Samples a step")->capture_default_str()->check(CLI::PositiveNumber);
  convolution->add_option("--threads", options.threads, "Compute threads")->capture_default_str()->check(CLI::PositiveNumber);
  convolution->add_option("--rounds", options.rounds, "Times that each form is measured, in turn; plain loops are once")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  convolution->add_flag("!--no-plain", options.plain, "Without plain loops, which take minutes for large networks");
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

void add_comm(CLI::App& app, CommBench& options)
{
  auto* comm =
      app.add_subcommand("comm", "All allreduces beside the MPI library's and Gloo's, size after size; start it with mpirun");
  comm->add_option("--algorithms", options.algorithms, "Which (all); ring:bfloat16 is ring with sync.wire: bfloat16")
      ->delimiter(',');
  comm->add_option("--least", options.least_bytes, "Smallest vector, in bytes")
      ->capture_default_str()
      ->check(problem_of_vector_bytes)
      ->check(CLI::Range(4, 1 << 30));
  comm->add_option("--most", options.most_bytes, "Largest vector, in bytes")
      ->capture_default_str()
      ->check(problem_of_vector_bytes)
      ->check(CLI::Range(4, 1 << 30));
  comm->add_option("--factor", options.factor, "From one size to the next")->capture_default_str()->check(CLI::Range(2, 1024));
  comm->add_option("--sizes", options.sizes, "Vectors of these many bytes instead")
      ->delimiter(',')
      ->check(problem_of_vector_bytes)
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
  overlap->add_flag("--work", options.works, "The computation is a fixed amount of work: what else uses its core delays it")
      ->excludes("--sleep");
  overlap->add_flag("--between-layers", options.between_layers,
                    "poll moves messages on between layers only, as it does with synchronized batch norm");
  overlap->add_option("--steps", options.steps, "Steps to measure")->capture_default_str()->check(CLI::PositiveNumber);
  overlap->add_option("--bucket-bytes", options.bucket_bytes, "sync.bucket_bytes")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  overlap->add_option("--allreduce", options.allreduce, "sync.allreduce")->capture_default_str();
  overlap->add_flag("--json", options.json, "One JSON array");
}

void add_input(CLI::App& app, InputBench& options)
{
  auto* input = app.add_subcommand(
      "input", "Batches of a packed set, as a run reads them, from a cold and a warm page cache; with mpirun on several ranks");
  input->add_option("file", options.file, "The packed set")->required()->check(CLI::ExistingFile);
  input
      ->add_option("--readers", options.readers,
                   "buffered; direct (O_DIRECT); mpi-io: collective reads of whole blocks, without decoding")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::IsMember({"buffered", "direct", "mpi-io"}));
  add_choices(*input, "--orders", options.orders, "data.order, in turn");
  input->add_option("--threads", options.threads, "Threads that read and decode, in turn; 0: the caller does")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  input->add_option("--batch", options.batch, "Samples of a batch")->capture_default_str()->check(CLI::PositiveNumber);
  input->add_option("--samples", options.samples, "Samples that each rank reads; 0: its part of an epoch")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  input->add_option("--block-bytes", options.block_bytes, "data.block_bytes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  input->add_flag("!--no-decode", options.decode, "Read the records and check their hashes only");
  input->add_option("--image-size", options.image_size, "data.image_size")->capture_default_str()->check(CLI::NonNegativeNumber);
  add_choice(*input, "--crop", options.crop, "data.crop");
  input->add_flag("--flip", options.flip, "data.flip");
  input->add_flag("!--no-cold", options.cold, "Only with the file in the page cache");
  input->add_flag("!--no-warm", options.warm, "Only with the file out of the page cache");
  input->add_option("--repeats", options.repeats, "Repetitions of each case")->capture_default_str()->check(CLI::PositiveNumber);
  input->add_flag("--json", options.json, "One JSON array");
}

// Under MPI, on all ranks.
template<class Options> int on_all_ranks(int (*bench)(const Options&, comm::Communicator&), const Options& options)
{
  const comm::MpiWorld mpi;
  comm::Communicator world(MPI_COMM_WORLD);
  return bench(options, world);
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
  InputBench input;
  add_input(app, input);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(dt::ExitCode::usage);
  }
  if (app.got_subcommand("overlap")) return bench_overlap(overlap);
  if (app.got_subcommand("gradients")) return bench_gradients(gradients);
  if (app.got_subcommand("input")) return on_all_ranks(bench_input, input);
  if (app.got_subcommand("strategies")) return on_all_ranks(bench_strategies, strategies);
  if (app.got_subcommand("convolution")) return bench_convolution(convolution);
  if (app.got_subcommand("matmul")) return bench_matmul(matmul);
  if (app.got_subcommand("comm")) return bench_comm(comm);
  return app.got_subcommand("compute") ? bench_compute(compute) : on_all_ranks(bench_allreduce, allreduce);
}

} // namespace

int main(int argc, char** argv)
{
  return dt::run_program("dtbench", [&] { return dispatch(argc, argv); });
}
