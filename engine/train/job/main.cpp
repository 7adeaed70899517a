// dtengine: the program that trains (under mpirun), describes models and makes data sets.
#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/train/job/data_verbs.hpp"
#include "engine/train/job/input_report.hpp"
#include "engine/train/job/job.hpp"
#include "engine/train/job/model_report.hpp"
#include "engine/train/job/predict.hpp"
#include "engine/train/record/environment.hpp"
#include "engine/train/weights/export_weights.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <clocale>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace dt;
using namespace dt::train;

constexpr std::size_t name_bytes = 256;
using Name = std::array<char, name_bytes>;

// The hosts of all ranks, on rank 0. Collective.
std::set<std::string> gather_hosts(int ranks)
{
  Name own{};
  host_name().copy(own.data(), own.size() - 1);
  std::vector<Name> all(static_cast<std::size_t>(ranks));
  MPI_Gather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(), static_cast<int>(own.size()), MPI_CHAR, 0,
             MPI_COMM_WORLD);
  std::set<std::string> hosts;
  for (const auto& name : all) hosts.insert(name.data());
  return hosts;
}

// `dtengine hello`, the test program of `dtctl doctor --launchers`, shows that ranks can reach each other: all meet in a barrier,
// and rank 0 prints "hello 4 ranks on 2 hosts". Returns this rank's exit status.
int say_hello()
{
  MPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto hosts = gather_hosts(ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("hello %d ranks on %zu hosts\n", ranks, hosts.size());
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}

void add_run(CLI::App& app, JobOptions& options)
{
  auto* run = app.add_subcommand("run", "Train one attempt at a run; started on every rank by mpirun");
  run->add_option("--attempt", options.attempt, "The attempt's folder, <run>/attempts/<number>; the spec is <run>/spec.json")
      ->required();
  run->add_option("--data", options.data, "The data set's folder; the spec's data.path when left out");
}

CLI::App* add_network(CLI::App& app, const char* verb, const char* help, ModelReportOptions& options)
{
  auto* model = app.add_subcommand(verb, help);
  model->add_option("name", options.model, "The model; custom, or left out, with layers");
  auto* file = model->add_option("--layers-file", options.layers_file, "A file with a line a layer")->check(CLI::ExistingFile);
  model->add_option("--layer", options.layers, "One such line; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->excludes(file);
  model->add_option("--image", options.image, "Shape of the images, as 3x224x224; the model's own when left out");
  model->add_option("--classes", options.classes, "Classes; the model's own number when left out")->check(CLI::Range(1, 1000000));
  return model;
}

void add_model(CLI::App& app, ModelReportOptions& options)
{
  auto* model = add_network(app, "model", "Print a model's layers, shapes, parameters and FLOPs", options);
  model
      ->add_option("--batch", options.batch,
                   "Build the network for a batch of this many samples and print how much memory it needs")
      ->check(CLI::PositiveNumber);
  model->add_flag("--json", options.json, "One JSON object");
}

void add_start(CLI::App& app, StartReportOptions& options)
{
  auto* start = add_network(app, "start", "Check that a model can begin with the weights of a file", options.model);
  start->add_option("--file", options.file, "The checkpoint or other weights (.safetensors, .npz)")->required();
}

void add_predict(CLI::App& app, PredictOptions& options)
{
  auto* verb = add_network(app, "predict", "Write a model's outputs for a data set's test images as a NumPy .npz", options.model);
  verb->add_option("--weights", options.weights, "The model's weights: a checkpoint or other weights (.safetensors, .npz)")
      ->required();
  verb->add_option("--data", options.data.name, "The data set, as data.name in a recipe; synthetic needs no folder")->required();
  verb->add_option("--folder", options.data.path, "Its folder; the file of a packed set");
  verb->add_option("--image-size", options.data.image_size, "Side of the images that the network gets; 0: as the set has them");
  verb->add_option("--samples", options.data.test_samples, "So many of the test images, from the first; 0: all")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--images", options.with_images, "Write the images too, as the network gets them");
  verb->add_option("-o,--output", options.output, "The .npz: logits, labels")->required();
  verb->add_flag("--force", options.force, "Replace a file that is there");
}

void add_export(CLI::App& app, WeightsExport& options)
{
  auto* verb = app.add_subcommand("export-weights", "Write a checkpoint's tensors as .safetensors or as a NumPy .npz");
  verb->add_option("checkpoint", options.checkpoint, "The checkpoint")->required();
  auto* list = verb->add_flag("--list", options.list, "Print names and shapes, and write nothing");
  verb->add_option("-o,--output", options.output, "The file, whose name ends in .safetensors or .npz")->excludes(list);
  verb->add_option("--what", options.what, "Of weights, optimizer and strategy")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(exported_parts), std::end(exported_parts))));
  verb->add_flag("--force", options.force, "Replace a file that is there");
  verb->final_callback([&options] {
    if (!options.list && options.output.empty()) throw CLI::RequiredError("--output or --list");
  });
}

int dispatch(int argc, char** argv)
{
  CLI::App app{"dtctl's training engine", "dtengine"};
  app.require_subcommand(1);
  app.set_version_flag("--version", [] {
    return fmt::format("dtengine {} build {}\nallreduce gloo: {}", engine_version(), engine_build(),
                       comm::has_gloo() ? "yes" : "no, built without libgloo-dev");
  });
  JobOptions job;
  ModelReportOptions model;
  StartReportOptions start;
  add_run(app, job);
  add_model(app, model);
  add_start(app, start);
  DataVerbs data(app);
  PredictOptions prediction;
  add_predict(app, prediction);
  WeightsExport weights;
  add_export(app, weights);
  app.add_subcommand("hello", "Let the ranks meet: what dtctl doctor --launchers starts")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(dt::ExitCode::usage);
  }
  if (app.got_subcommand("hello")) return say_hello();
  if (app.got_subcommand("model")) return report_model(model);
  if (app.got_subcommand("start")) return report_start(start);
  if (app.got_subcommand("predict")) return predict(prediction);
  if (app.got_subcommand("data")) return data.run();
  if (app.got_subcommand("export-weights")) return export_weights(weights);
  return run_job(job);
}

} // namespace

int main(int argc, char** argv)
{
  std::setlocale(LC_CTYPE, "C.UTF-8"); // libarchive gives names of zip members in the locale's encoding
  return dt::run_program("dtengine", [&] { return dispatch(argc, argv); });
}
