#include "engine/train/job/data_verbs.hpp"

#include "engine/data/makers/make.hpp"
#include "engine/train/job/input_report.hpp"
#include "engine/train/job/progress_lines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dt::train {
namespace {

void add_describe(CLI::App& data, DataReportOptions& options)
{
  auto* describe = data.add_subcommand("describe", "Read a data set's files and print what they hold");
  describe->add_option("name", options.name, "The data set, as data.name in a recipe")->required();
  describe->add_option("--folder", options.folder, "Its folder; the file of a packed set")->required();
  describe->add_option("--image-size", options.image_size, "Side of the images that the network gets; 0: as the set has them");
  describe->add_flag("--json", options.json, "One JSON object");
}

void add_make(CLI::App& data, data::MakeOptions& options, bool& with_progress)
{
  auto* make = data.add_subcommand("make", "Render a data set and write it in its usual file format");
  make->add_option("kind", options.kind, "digits (IDX files, 1x28x28) or shapes (CIFAR-10 files, 3x32x32)")
      ->required()
      ->check(CLI::IsMember({"digits", "shapes"}));
  make->add_option("--out", options.folder, "Folder to write into")->required();
  make->add_option("--train", options.train, "Training images")->capture_default_str()->check(CLI::PositiveNumber);
  make->add_option("--test", options.test, "Test images")->capture_default_str()->check(CLI::PositiveNumber);
  make->add_option("--seed", options.seed, "Seed of the drawing")->capture_default_str();
  make->add_flag("--progress", with_progress, "Print lines \"images DONE ALL\" while the images are rendered");
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

} // namespace

struct DataVerbs::Options {
  CLI::App* data;
  bool with_progress = false;
  DataReportOptions described{};
  data::MakeOptions make{};
  PackedVerbs packed;
  explicit Options(CLI::App* app) : data(app), packed(*app) {}
};

DataVerbs::DataVerbs(CLI::App& app)
    : options_(std::make_unique<Options>(app.add_subcommand("data", "Data sets")->require_subcommand(1)))
{
  add_describe(*options_->data, options_->described);
  add_make(*options_->data, options_->make, options_->with_progress);
}

DataVerbs::~DataVerbs() = default;

int DataVerbs::run() const
{
  if (options_->data->got_subcommand("describe")) return report_data(options_->described);
  if (options_->data->got_subcommand("make")) return make(options_->make, options_->with_progress);
  return options_->packed.run();
}

} // namespace dt::train
