// dtengine: the program that trains (under mpirun), describes models and makes data sets.
#include "core/error.hpp"
#include "core/process.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/data/makers/make.hpp"
#include "engine/train/job/hello.hpp"
#include "engine/train/job/input_report.hpp"
#include "engine/train/job/job.hpp"
#include "engine/train/job/model_report.hpp"
#include "engine/train/record/environment.hpp"
#include "engine/train/weights/export_weights.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using namespace dt;
using namespace dt::train;

// Writes "images DONE ALL" to standard output. If nobody reads it any more, throws, so that the maker removes what it has begun.
void report_images(std::int64_t done, std::int64_t all)
{
  std::printf("images %lld %lld\n", static_cast<long long>(done), static_cast<long long>(all));
  if (std::fflush(stdout) != 0)
    throw Error(ErrorKind::environment, "the reader of the progress has ended; the data set was not made");
}

// With progress, the reader decides: when it ends, also by Ctrl-C, the pipe closes, and this program ends in an orderly way.
void follow_reader()
{
  std::signal(SIGPIPE, SIG_IGN);
  if (::isatty(STDOUT_FILENO) == 0) std::signal(SIGINT, SIG_IGN);
}

int make(data::MakeOptions options, bool with_progress)
{
  if (with_progress) {
    follow_reader();
    options.progress = report_images;
  }
  const bool made = data::make_data(options);
  fmt::print("{}: {} training and {} test images of {} {}\n", options.folder.string(), options.train, options.test, options.kind,
             made ? "made" : "are there already");
  return 0;
}

void add_run(CLI::App& app, JobOptions& options)
{
  auto* run = app.add_subcommand("run", "Train one attempt at a run; started on every rank by mpirun");
  run->add_option("--attempt", options.attempt, "The attempt's folder, <run>/attempts/<number>; the spec is <run>/spec.json")
      ->required();
  run->add_option("--data", options.data, "The data set's folder; the spec's data.path when left out");
}

void add_describe(CLI::App& data, DataReportOptions& options)
{
  auto* describe = data.add_subcommand("describe", "Read a data set's files and print what they hold");
  describe->add_option("name", options.name, "The data set, as data.name in a recipe")->required();
  describe->add_option("--folder", options.folder, "Its folder")->required();
  describe->add_flag("--json", options.json, "One JSON object");
}

void add_data(CLI::App& app, data::MakeOptions& options, bool& with_progress, DataReportOptions& report)
{
  auto* data = app.add_subcommand("data", "Data sets")->require_subcommand(1);
  add_describe(*data, report);
  auto* make = data->add_subcommand("make", "Render a data set and write it in its usual file format");
  make->add_option("kind", options.kind, "digits (IDX files, 1x28x28) or shapes (CIFAR-10 files, 3x32x32)")
      ->required()
      ->check(CLI::IsMember({"digits", "shapes"}));
  make->add_option("--out", options.folder, "Folder to write into")->required();
  make->add_option("--train", options.train, "Training images")->capture_default_str()->check(CLI::PositiveNumber);
  make->add_option("--test", options.test, "Test images")->capture_default_str()->check(CLI::PositiveNumber);
  make->add_option("--seed", options.seed, "Seed of the drawing")->capture_default_str();
  make->add_flag("--progress", with_progress, "Print lines \"images DONE ALL\" while the images are rendered");
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
  model->add_option("--classes", options.classes, "Classes; the model's own number when left out")->check(CLI::Range(2, 1000000));
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
  auto* start =
      add_network(app, "start", "Check that a model can begin with the weights of a checkpoint or an archive", options.model);
  start->add_option("--file", options.file, "The checkpoint (.h5) or archive (.npz)")->required();
}

void add_export(CLI::App& app, WeightsExport& options)
{
  auto* verb = app.add_subcommand("export-weights", "Write a checkpoint's tensors as a NumPy .npz");
  verb->add_option("checkpoint", options.checkpoint, "The checkpoint")->required();
  auto* list = verb->add_flag("--list", options.list, "Print names and shapes, and write nothing");
  verb->add_option("-o,--output", options.output, "The .npz")->excludes(list);
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
  data::MakeOptions data;
  bool with_progress = false;
  DataReportOptions described;
  ModelReportOptions model;
  StartReportOptions start;
  add_run(app, job);
  add_model(app, model);
  add_start(app, start);
  add_data(app, data, with_progress, described);
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
  if (app.got_subcommand("data") && app.get_subcommand("data")->got_subcommand("describe")) return report_data(described);
  if (app.got_subcommand("export-weights")) return export_weights(weights);
  return app.got_subcommand("run") ? run_job(job) : make(data, with_progress);
}

} // namespace

int main(int argc, char** argv)
{
  return dt::run_program("dtengine", [&] { return dispatch(argc, argv); });
}
