#include "engine/train/job/predict.hpp"

#include "core/error.hpp"
#include "engine/data/reading/read_range.hpp"
#include "engine/train/job/input_report.hpp"
#include "engine/train/weights/export_weights.hpp"
#include "engine/train/weights/npz.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::train {
namespace {

constexpr std::int64_t most_samples_at_once = 16;

// Synthetic images have the model's shape and classes; of other sets the images decide.
std::unique_ptr<data::Source> open_images(const PredictOptions& options, nn::NetworkOptions& network)
{
  auto spec = options.data;
  if (spec.name == "synthetic") {
    const auto& image = network.image;
    spec.channels = image.channels, spec.height = image.height, spec.width = image.width, spec.classes = network.classes;
  } else if (spec.path.empty()) {
    throw Error(ErrorKind::usage, fmt::format("Data set {} needs --folder, the place of its files.", spec.name));
  }
  auto test = data::open_sources(spec, spec.path, 1).test;
  if (test->size() == 0) throw Error(ErrorKind::usage, fmt::format("Data set {} has no test images.", spec.name));
  network.image = {test->channels(), test->height(), test->width()};
  network.classes = test->classes();
  return test;
}

// A network for training, whose weights the one that evaluates shares; only its weights are used.
nn::Network with_weights(nn::NetworkOptions options, const std::filesystem::path& file)
{
  options.batch = 1;
  options.memory_limit_bytes = 0;
  nn::Network network(options);
  network.set_plain_weights(read_weights(file, network.parameters()).weights);
  return network;
}

struct Outputs {
  std::vector<float> logits{}, labels{}, images{};
};

// The last batch is filled up with images of zeros, whose outputs are left out.
Outputs outputs_of(nn::Network& network, const data::Source& source, bool with_images)
{
  Outputs all;
  const auto batch = network.options().batch, image = network.options().image.size(), classes = network.options().classes;
  std::vector<float> images(static_cast<std::size_t>(batch * image));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
  for (std::int64_t begin = 0; begin < source.size(); begin += batch) {
    const auto count = std::min(batch, source.size() - begin);
    std::fill(images.begin(), images.end(), 0.0F);
    data::read_range(source, {begin, begin + count}, network.options().threads, images.data(), labels.data());
    const auto logits = network.logits(images);
    all.logits.insert(all.logits.end(), logits.begin(), logits.begin() + count * classes);
    for (std::int64_t i = 0; i < count; ++i) all.labels.push_back(static_cast<float>(labels[static_cast<std::size_t>(i)]));
    if (with_images) all.images.insert(all.images.end(), images.begin(), images.begin() + count * image);
  }
  return all;
}

std::int64_t count_right(const Outputs& outputs, std::int64_t classes)
{
  std::int64_t right = 0;
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    const auto first = outputs.logits.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    right += static_cast<float>(std::max_element(first, first + classes) - first) == outputs.labels[i] ? 1 : 0;
  }
  return right;
}

} // namespace

int predict(const PredictOptions& options)
{
  auto of_network = network_options(options.model);
  const auto source = open_images(options, of_network);
  const auto weights = with_weights(of_network, options.weights);
  of_network.batch = std::min(most_samples_at_once, source->size());
  of_network.memory_limit_bytes = 0;
  nn::Network network(of_network, weights);
  const auto outputs = outputs_of(network, *source, options.with_images);
  const auto samples = source->size();
  const auto& image = of_network.image;
  NpzWriter writer;
  writer.add({"logits", {samples, of_network.classes}}, outputs.logits);
  writer.add({"labels", {samples}}, outputs.labels);
  if (options.with_images) writer.add({"images", {samples, image.channels, image.height, image.width}}, outputs.images);
  write_new_file(options.output, writer.finish(), options.force);
  fmt::print("{}: {} images of {}, {} of them right\n", options.output.string(), samples, to_text(image),
             count_right(outputs, of_network.classes));
  return 0;
}

} // namespace dt::train
