#include "tests/engine/nn/models/reference_network.hpp"

#include <cmath>
#include <stdexcept>
#include <tuple>

namespace dt::nn::reference {
namespace {

constexpr double epsilon = 1e-5; // of batch norm

void add_to(Values& sum, const Values& part)
{
  if (sum.empty()) sum.assign(part.size(), 0.0);
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}

Lrn lrn_of(const LayerLine& line)
{
  return {.size = line.integer("size"), .alpha = line.real("alpha"), .beta = line.real("beta"), .k = line.real("k")};
}

} // namespace

Network::Network(const std::vector<std::string>& lines, const Shape& image, std::int64_t classes, std::int64_t batch)
    : image_(image), classes_(classes), batch_(batch)
{
  std::vector<LayerLine> parsed;
  for (const auto& line : lines) parsed.push_back(parse_layer(line));
  const auto names = layer_names(parsed);
  const auto inputs = layer_inputs(parsed);
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    Node node{parsed[i], names[i], inputs[i], shape_of(inputs[i].front()), {}};
    node.out = output_shape(node);
    nodes_.push_back(node);
  }
}

Windows Network::windows(const Node& node) const
{
  const auto& [line, in] = std::tie(node.line, node.in);
  if (line.kind == "global_average_pooling") return {batch_, in.channels, in.height, in.width, in.channels, in.height, 1, 0};
  const auto channels = line.kind == "convolution" ? line.integer("channels") : in.channels;
  Windows shape{batch_,
                in.channels,
                in.height,
                in.width,
                channels,
                line.integer("kernel"),
                line.integer("stride"),
                line.integer("padding")};
  if (line.kind == "convolution")
    shape.groups = line.integer("groups");
  else
    shape.ceil = line.boolean("ceil");
  return shape;
}

Channels Network::channels(const Node& node) const { return {batch_, node.in.channels, node.in.height * node.in.width}; }

Shape Network::output_shape(const Node& node) const
{
  const auto& kind = node.line.kind;
  if (kind == "inner_product") return {node.line.get("outputs") == "classes" ? classes_ : node.line.integer("outputs"), 1, 1};
  if (kind == "convolution" || kind.ends_with("pooling")) {
    const auto shape = windows(node);
    return {shape.out_channels, shape.out_height(), shape.out_width()};
  }
  auto shape = node.in;
  if (kind == "concat")
    for (std::size_t i = 1; i < node.inputs.size(); ++i) shape.channels += shape_of(node.inputs[i]).channels;
  return shape;
}

Values Network::forward(const Node& node, bool training) const
{
  const auto& kind = node.line.kind;
  const auto& x = output_of(node.inputs.front());
  if (kind == "convolution") {
    const auto shape = windows(node);
    const bool bias = node.line.boolean("bias");
    return convolution(shape, x, parameter(node, ".weight"),
                       bias ? parameter(node, ".bias") : Values(static_cast<std::size_t>(shape.out_channels), 0.0));
  }
  if (kind == "inner_product")
    return convolution(inner_product(batch_, node.in.size(), node.out.channels), x, parameter(node, ".weight"),
                       parameter(node, ".bias"));
  if (kind == "batch_norm") {
    const auto &gamma = parameter(node, ".weight"), &beta = parameter(node, ".bias");
    if (training) return batch_norm(channels(node), x, gamma, beta, epsilon).output;
    auto y = x;
    const auto places = static_cast<std::size_t>(node.in.height * node.in.width);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto c = i / places % gamma.size();
      y[i] = gamma[c] * (x[i] - parameter(node, ".running_mean")[c]) / std::sqrt(parameter(node, ".running_var")[c] + epsilon) +
             beta[c];
    }
    return y;
  }
  if (kind == "relu") return relu(x);
  if (kind == "max_pooling") return max_pooling(windows(node), x);
  if (kind == "average_pooling" || kind == "global_average_pooling") return average_pooling(windows(node), x);
  if (kind == "lrn") return lrn(channels(node), lrn_of(node.line), x);
  if (kind == "dropout") return x;
  std::vector<Values> inputs;
  for (const auto place : node.inputs) inputs.push_back(output_of(place));
  if (kind == "concat") return concat(batch_, inputs);
  if (kind != "add") throw std::logic_error("no reference for " + kind);
  Values sum;
  for (const auto& input : inputs) add_to(sum, input);
  return sum;
}

std::vector<Values> Network::backward(const Node& node, Parameters& gradients) const
{
  const auto& kind = node.line.kind;
  const auto& x = output_of(node.inputs.front());
  const auto& d = node.gradient;
  if (kind == "convolution" || kind == "inner_product") {
    const auto shape = kind == "convolution" ? windows(node) : inner_product(batch_, node.in.size(), node.out.channels);
    auto found = convolution_gradients(shape, x, parameter(node, ".weight"), d);
    gradients[node.name + ".weight"] = found.weights;
    if (kind == "inner_product" || node.line.boolean("bias")) gradients[node.name + ".bias"] = found.bias;
    return {found.input};
  }
  if (kind == "batch_norm") {
    const auto &gamma = parameter(node, ".weight"), &beta = parameter(node, ".bias");
    const auto found = batch_norm_gradients(channels(node), x, gamma, d, epsilon);
    const auto norm = batch_norm(channels(node), x, gamma, beta, epsilon);
    gradients[node.name + ".weight"] = found.gamma, gradients[node.name + ".bias"] = found.beta;
    gradients[node.name + ".running_mean"] = norm.mean, gradients[node.name + ".running_var"] = norm.variance;
    return {found.input};
  }
  if (kind == "relu") return {relu_gradient(node.output, d)};
  if (kind == "max_pooling") return {max_pooling_gradient(windows(node), x, d)};
  if (kind == "average_pooling" || kind == "global_average_pooling") return {average_pooling_gradient(windows(node), d)};
  if (kind == "lrn") return {lrn_gradient(channels(node), lrn_of(node.line), x, d)};
  if (kind == "dropout") return {d};
  if (kind == "add") return std::vector<Values>(node.inputs.size(), d);
  std::vector<std::int64_t> sizes;
  for (const auto place : node.inputs) sizes.push_back(shape_of(place).size());
  return concat_gradients(batch_, sizes, d);
}

Network::Result Network::train(const Values& images, const Parameters& parameters, const std::vector<std::int32_t>& labels)
{
  images_ = images, parameters_ = &parameters;
  for (auto& node : nodes_) node.output = forward(node, true), node.gradient.clear();
  Result result;
  const auto loss = softmax_cross_entropy(nodes_.back().output, labels);
  result.loss = loss.mean;
  nodes_.back().gradient = loss.gradient;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    const auto parts = backward(*node, result.gradients);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (node->inputs[i] >= 0) add_to(nodes_[static_cast<std::size_t>(node->inputs[i])].gradient, parts[i]);
  }
  return result;
}

Values Network::evaluate(const Values& images, const Parameters& parameters)
{
  images_ = images, parameters_ = &parameters;
  for (auto& node : nodes_) node.output = forward(node, false);
  return nodes_.back().output;
}

} // namespace dt::nn::reference
