#include "engine/train/job/model_report.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/memory.hpp"
#include "core/spec/input_shape.hpp"
#include "core/text.hpp"
#include "engine/nn/graph/make_layers.hpp"
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
  const auto natural = model::natural_input(network.model);
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
  model::Model model;
  std::optional<nn::MemoryNeed> memory{};
};

// The layer's attributes; for a batch norm also the rate at which the optimizer moves its running statistics.
Json attributes_json(const model::Layer& layer)
{
  Json attributes = Json::object();
  for (const auto& [name, value] : layer.attributes())
    attributes[name] = std::visit([](auto content) { return Json(content); }, value);
  if (layer.is<model::BatchNormSpec>()) attributes["momentum"] = optim::statistic_rate;
  return attributes;
}

Json layer_json(const model::Model& model, const model::Layer& layer)
{
  Json inputs = Json::array(), sources = Json::array(); // sources: for each input the layer that makes it, or "images"
  for (const auto& input : layer.inputs) {
    inputs.push_back(to_text(input.shape));
    sources.push_back(model.source_of(input));
  }
  return {{"name", layer.name},
          {"kind", layer.kind()},
          {"attributes", attributes_json(layer)},
          {"from", sources},
          {"inputs", inputs},
          {"output", to_text(layer.output.shape)},
          {"parameters", layer.parameters()},
          {"flops", layer.flops()}};
}

Json json_of(const Report& report)
{
  const auto totals = report.model.totals();
  Json layers = Json::array(), auxiliary = Json::array();
  for (const auto& [logits, weight] : report.model.auxiliary)
    auxiliary.push_back({{"logits", report.model.source_of(logits)}, {"weight", weight}});
  for (const auto& layer : report.model.layers) layers.push_back(layer_json(report.model, layer));
  Json json{{"model", report.options.model},
            {"image", to_text(report.options.image)},
            {"classes", report.options.classes},
            {"layers", layers},
            {"logits", report.model.source_of(report.model.logits)},
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
  for (const auto& layer : report.model.layers) {
    std::vector<std::string> inputs;
    for (const auto& input : layer.inputs) inputs.push_back(to_text(input.shape));
    fmt::print("{:<28} {:<22} {:>24} {:>14} {:>12} {:>9.2f}\n", layer.name, layer.kind(), join(inputs, " "),
               to_text(layer.output.shape), layer.parameters(), layer.flops() / 1e6);
  }
  const auto totals = report.model.totals();
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
  Report report{network, model::build_model(nn::model_options(network))};
  if (options.batch > 0) report.memory = nn::Network(network).memory();
  if (options.json)
    fmt::print("{}\n", json_of(report).dump());
  else
    print_text(report);
  return 0;
}

} // namespace dt::train
