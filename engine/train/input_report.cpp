#include "engine/train/input_report.hpp"

#include "core/error.hpp"
#include "engine/data/source.hpp"
#include "engine/train/start.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::engine {
namespace {

using Json = nlohmann::ordered_json;

// Nothing is trained here, so a machine that is too small for it says nothing of the run.
Network build(NetworkOptions options)
{
  options.batch = 1;
  options.memory_limit_bytes = 0;
  try {
    return Network(options);
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::environment ? Error(ErrorKind::run, error.what()) : error;
  }
}

Start read_as_recipe_says(const std::filesystem::path& file, const std::vector<Parameter>& parameters)
{
  try {
    return read_start(file, parameters, "");
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::environment ? error : Error(ErrorKind::recipe, error.what());
  }
}

} // namespace

int report_data(const DataReportOptions& options)
{
  DataSpec spec;
  spec.name = options.name;
  const auto sources = open_sources(spec, options.folder, 1);
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
    fmt::print("{}: {} training and {} test images of {}, {} classes\n", options.folder.string(), train.size(), test.size(), image,
               train.classes());
  return 0;
}

int report_start(const StartReportOptions& options)
{
  const auto network = build(network_options(options.model));
  fmt::print("{}: {}\n", options.file.string(), read_as_recipe_says(options.file, network.parameters()).origin);
  return 0;
}

} // namespace dt::engine
