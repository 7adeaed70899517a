#include "engine/train/job/model_report.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/memory.hpp"
#include "core/spec/input_shape.hpp"
#include "core/text.hpp"
#include "engine/nn/graph/model_description.hpp"
#include "engine/nn/models/model_registry.hpp"
#include "engine/optim/optimizer.hpp"

#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::train {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> lines_of(const ModelReportOptions& options)
{
  if (options.layers_file.empty()) return options.layers;
  std::vector<std::string> lines;
  for (const auto& line : split(read_file(options.layers_file), '\n'))
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  return lines;
}

// Sets the requested images and classes, otherwise the model's natural ones.
void set_input(nn::NetworkOptions& network, const ModelReportOptions& options)
{
  const auto natural = nn::natural_input(network.model);
  network.image = natural.image;
  network.classes = options.classes > 0 ? options.classes : natural.classes;
  if (options.image.empty()) return;
  const auto image = parse_image(options.image);
  if (!image)
    throw Error(ErrorKind::usage, fmt::format("--image takes channels x height x width as 3x224x224, not {}.", options.image));
  network.image = {image->channels, image->height, image->width};
}

struct Report {
  nn::NetworkOptions options;
  std::vector<nn::LayerDescription> layers;
  std::string logits;                                      // the layer whose output the softmax takes
  std::vector<std::pair<std::string, double>> auxiliary{}; // layers whose softmax loss counts too in training, with its weight
  std::optional<nn::MemoryNeed> memory{};
};

Report report_of(const nn::NetworkOptions& options)
{
  const auto model = nn::build_model(options);
  Report report{options, describe(model), source_of(model, model.logits)};
  for (const auto& [logits, weight] : model.auxiliary) report.auxiliary.emplace_back(source_of(model, logits), weight);
  return report;
}

// The layer's attributes; for a batch norm also the rate at which the optimizer moves its running statistics.
Json attributes_json(const nn::LayerDescription& layer)
{
  Json attributes = Json::object();
  for (const auto& [name, value] : layer.attributes)
    attributes[name] = std::visit([](auto content) { return Json(content); }, value);
  if (layer.kind == "batch norm") attributes["momentum"] = optim::statistic_rate;
  return attributes;
}

Json layer_json(const nn::LayerDescription& layer)
{
  Json inputs = Json::array();
  for (const auto& shape : layer.inputs) inputs.push_back(to_text(shape));
  return {{"name", layer.name},
          {"kind", layer.kind},
          {"attributes", attributes_json(layer)},
          {"from", layer.sources},
          {"inputs", inputs},
          {"output", to_text(layer.output)},
          {"parameters", layer.parameters},
          {"flops", layer.flops}};
}

Json json_of(const Report& report)
{
  const auto totals = nn::totals_of(report.layers);
  Json layers = Json::array(), auxiliary = Json::array();
  for (const auto& [logits, weight] : report.auxiliary) auxiliary.push_back({{"logits", logits}, {"weight", weight}});
  for (const auto& layer : report.layers) layers.push_back(layer_json(layer));
  Json json{{"model", report.options.model},
            {"image", to_text(report.options.image)},
            {"classes", report.options.classes},
            {"layers", layers},
            {"logits", report.logits},
            {"auxiliary", auxiliary},
            {"parameters", totals.parameters},
            {"weight_bytes", totals.parameters * 4},
            {"forward_flops", totals.forward_flops},
            {"step_flops", totals.step_flops}};
  if (report.memory)
    json["memory"] = {{"batch", report.options.batch},
                      {"parameter_bytes", report.memory->parameters},
                      {"activation_bytes", report.memory->activations},
                      {"unshared_bytes", report.memory->unshared}};
  return json;
}

void print_text(const Report& report)
{
  fmt::print("{}, images of {}, {} classes\n\n", report.options.model, to_text(report.options.image), report.options.classes);
  fmt::print("{:<28} {:<22} {:>24} {:>14} {:>12} {:>9}\n", "layer", "kind", "input", "output", "parameters", "MFLOP");
  for (const auto& layer : report.layers) {
    std::vector<std::string> inputs;
    for (const auto& shape : layer.inputs) inputs.push_back(to_text(shape));
    fmt::print("{:<28} {:<22} {:>24} {:>14} {:>12} {:>9.2f}\n", layer.name, layer.kind, join(inputs, " "), to_text(layer.output),
               layer.parameters, layer.flops / 1e6);
  }
  const auto totals = nn::totals_of(report.layers);
  fmt::print("\n{} parameters ({:.1f} MB), {:.3f} GFLOP forward and {:.3f} a training step for each sample\n", totals.parameters,
             static_cast<double>(totals.parameters) * 4e-6, totals.forward_flops / 1e9, totals.step_flops / 1e9);
  if (report.memory)
    fmt::print("memory at batch {}: {:.1f} MB of weights and gradients, {:.1f} MB of activations and scratch "
               "({:.1f} MB if nothing shared a place)\n",
               report.options.batch, static_cast<double>(report.memory->parameters) * 1e-6,
               static_cast<double>(report.memory->activations) * 1e-6, static_cast<double>(report.memory->unshared) * 1e-6);
}

} // namespace

nn::NetworkOptions network_options(const ModelReportOptions& options)
{
  auto lines = lines_of(options);
  if (!lines.empty() && !options.model.empty() && options.model != "custom")
    throw Error(ErrorKind::usage, fmt::format("Layers are of a network of one's own; leave {} out.", options.model));
  if (lines.empty() && options.model.empty()) throw Error(ErrorKind::usage, "Give a model's name or its layers.");
  nn::NetworkOptions network;
  network.model = lines.empty() ? options.model : "custom";
  network.layers = std::move(lines);
  set_input(network, options);
  network.batch = options.batch;
  network.memory_limit_bytes = machine_memory().available;
  return network;
}

int report_model(const ModelReportOptions& options)
{
  const auto network = network_options(options);
  auto report = report_of(network);
  if (options.batch > 0) report.memory = nn::Network(network).memory();
  if (options.json)
    fmt::print("{}\n", json_of(report).dump());
  else
    print_text(report);
  return 0;
}

} // namespace dt::train
