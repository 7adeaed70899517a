#include "engine/train/job/input_report.hpp"

#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "engine/data/source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::train {
namespace {

using Json = nlohmann::ordered_json;

// Only the shapes matter here, so a small batch without memory limit is enough.
nn::Network build(nn::NetworkOptions options)
{
  options.batch = 1;
  options.memory_limit_bytes = 0;
  try {
    return nn::Network(options);
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::environment ? Error(ErrorKind::run, error.what()) : error;
  }
}

} // namespace

Start read_weights(const std::filesystem::path& file, const std::vector<nn::Parameter>& parameters)
{
  try {
    return read_start(file, parameters, "");
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::environment ? error : Error(ErrorKind::recipe, error.what());
  }
}

int report_data(const DataReportOptions& options)
{
  DataSpec spec;
  spec.name = options.name;
  spec.image_size = options.image_size;
  if (spec.name == "packed") PackedFile(options.folder).require_intact_index();
  const auto sources = data::open_sources(spec, options.folder, 1);
  const auto &train = *sources.train, &test = *sources.test;
  const auto image = fmt::format("{}x{}x{}", train.channels(), train.height(), train.width());
  if (options.json)
    fmt::print("{}\n", Json{{"data", options.name},
                            {"image", image},
                            {"classes", train.classes()},
                            {"train_samples", train.size()},
                            {"test_samples", test.size()}}
                           .dump());
  else
    fmt::print("{}: {} training and {} test images of {}, {} classes\n", options.folder.string(), train.size(), test.size(),
               image, train.classes());
  return 0;
}

int report_start(const StartReportOptions& options)
{
  const auto network = build(network_options(options.model));
  fmt::print("{}: {}\n", options.file.string(), read_weights(options.file, network.parameters()).origin);
  return 0;
}

} // namespace dt::train
