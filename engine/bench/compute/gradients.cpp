#include "core/error.hpp"
#include "core/files/file.hpp"
#include "engine/bench/bench.hpp"
#include "engine/model/models/registry.hpp"
#include "engine/train/weights/npz.hpp"
#include "engine/train/weights/start.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace dt::bench {
namespace {

struct Input {
  std::int64_t batch;
  model::Shape image;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

Input read_input(const std::string& path)
{
  const train::NpzReader archive(path);
  const auto& tensors = archive.tensors();
  const auto place = [&](const char* name, std::size_t dims) {
    const auto found = std::ranges::find(tensors, name, &train::TensorName::name);
    if (found == tensors.end() || found->dims.size() != dims)
      throw Error(ErrorKind::usage, fmt::format("{} holds no tensor {} of {} dimensions.", path, name, dims));
    return static_cast<std::size_t>(found - tensors.begin());
  };
  const auto images = place("images", 4), labels = place("labels", 1);
  const auto read = [&](std::size_t index) {
    std::vector<float> values(train::element_count(tensors[index].dims));
    archive.read(index, values);
    return values;
  };
  const auto& dims = tensors[images].dims;
  Input input{dims[0], {dims[1], dims[2], dims[3]}, read(images), {}};
  for (const float label : read(labels)) input.labels.push_back(static_cast<std::int32_t>(label));
  if (static_cast<std::int64_t>(input.labels.size()) != input.batch)
    throw Error(ErrorKind::usage, fmt::format("{} holds {} images and {} labels.", path, input.batch, input.labels.size()));
  return input;
}

// Adds the plain values of all parameters, each named `prefix` plus its name.
void add_all(train::NpzWriter& writer, const std::string& prefix, const std::vector<nn::Parameter>& parameters,
             std::span<const float> plain)
{
  for (const auto& parameter : parameters) {
    std::size_t size = 1;
    for (const auto dim : parameter.dims) size *= static_cast<std::size_t>(dim);
    writer.add({prefix + parameter.name, parameter.dims}, plain.first(size));
    plain = plain.subspan(size);
  }
}

} // namespace

int bench_gradients(const GradientsBench& options)
{
  const auto input = read_input(options.input);
  nn::Network network({.model = options.model,
                       .image = input.image,
                       .classes = model::natural_input(options.model).classes,
                       .batch = input.batch,
                       .threads = options.threads,
                       .winograd = options.winograd,
                       .dropout = false});
  if (!options.weights.empty()) network.set_plain_weights(train::read_start(options.weights, network.parameters(), "").weights);
  train::NpzWriter writer;
  add_all(writer, "weights/", network.parameters(), network.plain_weights());
  const std::array loss{static_cast<float>(network.forward_backward(input.images, input.labels))};
  add_all(writer, "gradients/", network.parameters(), network.plain_gradients());
  writer.add({"loss", {1}}, loss);
  write_file_atomic(options.output, writer.finish(), Readers::everybody);
  return 0;
}

} // namespace dt::bench
