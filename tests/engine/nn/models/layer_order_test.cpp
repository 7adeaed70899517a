// Layers in any order: every ordered pair of kinds and random networks agree with the reference, in training and in evaluation.
#include "core/error.hpp"
#include "engine/nn/graph/network.hpp"
#include "tests/engine/nn/models/reference_network.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace dt;
using namespace dt::nn;
using reference::Values;

namespace {

using Lines = std::vector<std::string>;
constexpr std::int64_t classes = 5;
constexpr double tolerance = 1e-3; // of norms; rounding stays below it also behind batch norm of few values

double norm(const Values& values)
{
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& values, const Values& expected)
{
  if (values.size() != expected.size()) return INFINITY;
  auto difference = to_double(values);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
  return norm(difference);
}

std::size_t size_of(const Parameter& parameter)
{
  std::size_t size = 1;
  for (const auto dim : parameter.dims) size *= static_cast<std::size_t>(dim);
  return size;
}

// Numbers that leave the activations about as large as they are; a variance is positive.
Values some_numbers(const Parameter& parameter, std::uint64_t stream)
{
  const auto size = size_of(parameter);
  auto values = numbers(static_cast<std::int64_t>(size), stream);
  const bool is_variance = parameter.name.ends_with(".running_var");
  const double fan_in = static_cast<double>(size) / static_cast<double>(parameter.dims[0]);
  for (auto& value : values) {
    if (parameter.kind == ParameterKind::weight)
      value *= 2 / std::sqrt(fan_in);
    else if (parameter.kind == ParameterKind::scale || is_variance)
      value = 1 + value / 2;
    else
      value /= 4;
  }
  return values;
}

struct Case {
  Lines lines;
  Shape image;
  std::int64_t batch = 6;
};

std::string to_text(const Case& which)
{
  return fmt::format("images {}, batch {}: {}", model::to_text(which.image), which.batch, fmt::join(which.lines, " | "));
}

std::vector<std::int32_t> labels_of(std::int64_t batch)
{
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < batch; ++i) labels.push_back(static_cast<std::int32_t>(i * 3 % classes));
  return labels;
}

// Parts of a network's plain parameters or gradients, by name.
std::map<std::string, std::vector<float>> by_name(const Network& network, const std::vector<float>& plain)
{
  std::map<std::string, std::vector<float>> parts;
  auto next = plain.begin();
  for (const auto& parameter : network.parameters()) {
    const auto end = next + static_cast<std::ptrdiff_t>(size_of(parameter));
    parts[parameter.name] = {next, end};
    next = end;
  }
  return parts;
}

// One network, trained for a step and evaluated between, against the reference.
class Comparison {
 public:
  Comparison(const Case& which, const NetworkOptions& options)
      : which_(which), options_(options), network_(options_), reference_(which.lines, which.image, classes, which.batch)
  {
    std::vector<float> plain;
    std::uint64_t stream = 100;
    for (const auto& parameter : network_.parameters()) {
      const auto values = to_float(some_numbers(parameter, ++stream));
      parameters_[parameter.name] = to_double(values);
      plain.insert(plain.end(), values.begin(), values.end());
    }
    network_.set_plain_weights(plain);
  }

  // The furthest that anything is from the reference, as a share of its norm; what it is.
  std::pair<double, std::string> run()
  {
    train(1);
    // Of two batches and of another size, so that nothing stays at the place of the first images.
    evaluate(which_.batch, 2), evaluate(which_.batch, 3), evaluate(2, 4);
    train(5);
    return furthest_;
  }

 private:
  void note(double distance, double size, const std::string& what)
  {
    const double share = size == 0 && distance == 0 ? 0 : distance / size;
    if (!std::isnan(furthest_.first) && !(share <= furthest_.first)) furthest_ = {share, what}; // a NaN stays
  }

  Values images(std::int64_t batch, std::uint64_t stream) const
  {
    return to_double(to_float(numbers(batch * which_.image.size(), stream)));
  }

  void train(std::uint64_t stream)
  {
    const auto values = images(which_.batch, stream);
    const auto labels = labels_of(which_.batch);
    const auto expected = reference_.train(values, parameters_, labels);
    const auto floats = to_float(values);
    const double loss = network_.forward_backward(floats, labels);
    note(std::abs(loss - expected.loss), expected.loss, "loss");
    double all = 0;
    for (const auto& [name, gradient] : expected.gradients)
      if (!name.ends_with("running_mean") && !name.ends_with("running_var")) all = std::hypot(all, norm(gradient));
    // A bias before a batch norm has a gradient of zero: what rounding leaves is small beside the others.
    for (const auto& [name, gradient] : by_name(network_, network_.plain_gradients()))
      note(distance(gradient, expected.gradients.at(name)), norm(expected.gradients.at(name)) + 0.1 * all, "gradient of " + name);
  }

  void evaluate(std::int64_t batch, std::uint64_t stream)
  {
    auto options = options_;
    options.batch = batch;
    const auto values = images(batch, stream);
    const auto expected = reference::Network(which_.lines, which_.image, classes, batch).evaluate(values, parameters_);
    auto [place, is_new] = evaluating_.try_emplace(batch, nullptr);
    if (is_new) place->second = std::make_unique<Network>(options, network_);
    const auto floats = to_float(values);
    note(distance(place->second->logits(floats), expected), norm(expected), fmt::format("logits of batch {}", batch));
  }

  Case which_;
  NetworkOptions options_;
  Network network_;
  reference::Network reference_;
  reference::Network::Parameters parameters_;
  std::map<std::int64_t, std::unique_ptr<Network>> evaluating_;
  std::pair<double, std::string> furthest_;
};

NetworkOptions options_of(const Case& which)
{
  return {.model = "custom", .layers = which.lines, .image = which.image, .classes = classes, .batch = which.batch};
}

void check(const Case& which)
{
  for (const auto* kernels : {"as chosen", "image lanes", "plain loops", "bf16"}) {
    auto options = options_of(which);
    const bool half = std::string(kernels) == "bf16";
    if (half && !is_supported(Precision::bf16)) continue;
    if (std::string(kernels) == "image lanes") options.image_lanes = true;
    options.reference = std::string(kernels) == "plain loops";
    if (half) options.precision = Precision::bf16;
    INFO(to_text(which) << "; kernels: " << kernels);
    try {
      const auto [furthest, what] = Comparison(which, options).run();
      INFO(what);
      CHECK(std::isfinite(furthest));
      if (!half) CHECK(furthest <= tolerance); // bf16 has 8 bits: behind batch norms its rounding is not small
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

// ---- pairs ----

constexpr const char* kinds[] = {
    "convolution", "batch_norm", "relu",          "max_pooling", "average_pooling", "global_average_pooling",
    "lrn",         "dropout",    "inner_product", "add",         "concat"};
// So little that no number of a test is left out.
constexpr const char* no_dropout = "dropout rate=1e-10";

// Appends a layer of this kind behind the last one, which gives `shape`; returns what the new one gives.
class Writer {
 public:
  Writer(const Shape& image) : shape_(image) {}

  void append(const std::string& kind)
  {
    const bool is_pixel = shape_.height == 1;
    const auto outer = shape_;
    if (kind == "convolution") {
      put(is_pixel ? "convolution channels=12 kernel=1" : "convolution channels=12 kernel=3 padding=1");
      shape_.channels = 12;
    } else if (kind == "max_pooling" || kind == "average_pooling") {
      put(kind + (is_pixel ? " kernel=1 stride=1" : " kernel=2 stride=2"));
      shape_ = {outer.channels, (outer.height + 1) / 2, (outer.width + 1) / 2};
      if (!is_pixel) shape_.height = outer.height / 2, shape_.width = outer.width / 2;
    } else if (kind == "global_average_pooling") {
      put(kind);
      shape_ = {outer.channels, 1, 1};
    } else if (kind == "inner_product") {
      put("inner_product outputs=21");
      shape_ = {21, 1, 1};
    } else if (kind == "add" || kind == "concat") {
      const auto before = last_;
      put(fmt::format("convolution channels={} kernel=1", outer.channels));
      put(fmt::format("{} inputs={},{}", kind, before, last_));
      if (kind == "concat") shape_.channels *= 2;
    } else {
      put(kind == "dropout" ? no_dropout : kind);
    }
  }
  void put(std::string line)
  {
    last_ = fmt::format("l{}", lines_.size() + 1);
    lines_.push_back(to_text(parse_layer(line + " name=" + last_)));
  }
  Lines finish()
  {
    put("inner_product outputs=classes");
    return lines_;
  }

 private:
  Lines lines_;
  Shape shape_;
  std::string last_{images_name};
};

// ---- random networks ----

// A legal network of up to eight layers: each takes the output of the one before; sums and concatenations take an earlier one
// too.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint32_t seed) : random_(seed) {}

  Case make()
  {
    const auto side = pick({1, 2, 5, 8, 9});
    Case made{{}, {pick({1, 3, 16, 20}), side, side}, pick({3, 6, 16, 17})};
    outputs_ = {{std::string(images_name), made.image}};
    const auto hidden = pick({1, 2, 3, 4, 5, 6, 7});
    while (static_cast<std::int64_t>(lines_.size()) < hidden) append();
    put("inner_product outputs=classes", {classes, 1, 1});
    made.lines = lines_;
    return made;
  }

 private:
  struct Output {
    std::string name;
    Shape shape;
  };
  std::int64_t pick(std::initializer_list<std::int64_t> choices)
  {
    return choices.begin()[random_() % static_cast<std::uint32_t>(choices.size())];
  }
  const Shape& shape() const { return outputs_.back().shape; }

  void put(const std::string& line, const Shape& made)
  {
    const auto name = fmt::format("l{}", lines_.size() + 1);
    lines_.push_back(to_text(parse_layer(line + " name=" + name)));
    outputs_.push_back({name, made});
  }

  void append()
  {
    const std::string kind = kinds[random_() % std::size(kinds)];
    if (kind == "convolution") return convolution();
    if (kind == "max_pooling" || kind == "average_pooling") return pooling(kind);
    if (kind == "global_average_pooling") return put(kind, {shape().channels, 1, 1});
    if (kind == "add" || kind == "concat") return join(kind);
    if (kind == "lrn") return put(fmt::format("lrn size={} alpha=0.1", pick({1, 3, 5})), shape());
    if (kind == "dropout") return put(no_dropout, shape());
    if (kind != "inner_product") return put(kind, shape());
    const auto outputs = pick({1, 4, 16, 20, 33, 400});
    put(fmt::format("inner_product outputs={}", outputs), {outputs, 1, 1});
  }

  void convolution()
  {
    const auto kernel = pick({1, 3, 5}), padding = pick({0, kernel / 2}), stride = pick({1, 1, 2});
    if (shape().height + 2 * padding < kernel) return;
    const std::int64_t groups = shape().channels % 4 == 0 ? pick({1, 1, 2, 4, shape().channels}) : 1;
    const auto channels = groups * (groups > 8 ? pick({1, 2}) : pick({1, 4, 8, 16}));
    const auto side = (shape().height + 2 * padding - kernel) / stride + 1;
    put(fmt::format("convolution channels={} kernel={} padding={} stride={} groups={} bias={}", channels, kernel, padding, stride,
                    groups, random_() % 2 == 0),
        {channels, side, side});
  }

  void pooling(const std::string& kind)
  {
    const auto kernel = pick({1, 2, 3}), stride = pick({1, 2}), padding = kernel > 1 ? pick({0, 1}) : 0;
    if (shape().height + 2 * padding < kernel) return;
    const bool ceil = random_() % 2 == 0;
    const auto c = shape().channels;
    const auto side = reference::Windows{1, c, shape().height, shape().height, c, kernel, stride, padding, 1, ceil}.out_height();
    put(fmt::format("{} kernel={} stride={} padding={} ceil={}", kind, kernel, stride, padding, ceil), {c, side, side});
  }

  void join(const std::string& kind)
  {
    const bool sum = kind == "add";
    std::vector<Output> fitting;
    for (const auto& output : outputs_)
      if (sum ? output.shape == shape() : output.shape.height == shape().height && output.shape.channels < 200)
        fitting.push_back(output);
    if (fitting.empty()) return;
    const auto other = fitting[random_() % fitting.size()];
    const bool behind = random_() % 2 == 0;
    auto joined = shape();
    if (!sum) joined.channels += other.shape.channels;
    const auto& last = outputs_.back().name;
    put(fmt::format("{} inputs={},{}", kind, behind ? last : other.name, behind ? other.name : last), joined);
  }

  std::mt19937 random_;
  Lines lines_;
  std::vector<Output> outputs_;
};

} // namespace

TEST_CASE("every ordered pair of layers is right, on images, behind a convolution and behind an inner product")
{
  for (const auto* before : {"", "convolution", "inner_product"})
    for (const auto* first : kinds)
      for (const auto* second : kinds) {
        Case which{{}, {3, 6, 6}};
        Writer writer(which.image);
        for (const std::string kind : {before, first, second})
          if (!kind.empty()) writer.append(kind);
        which.lines = writer.finish();
        check(which);
      }
}

TEST_CASE("random networks of up to eight layers are right")
{
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    check(RandomNetwork(seed).make());
  }
}

TEST_CASE("a ReLU behind the pooling of a convolution is computed, in image lanes too")
{
  check({{"convolution channels=8 kernel=3", "max_pooling kernel=2 stride=2", "relu", "inner_product outputs=classes"},
         {1, 8, 8},
         16});
}

TEST_CASE("dropout on the images before an inner product: the evaluation reads each batch's own images")
{
  for (const std::int64_t batch : {8, 32, 250})
    check({{"dropout rate=1e-10", "inner_product outputs=classes"}, {1, 28, 28}, batch});
}

TEST_CASE("LeNet's loss, gradients and logits are those of the reference within the rounding of its sums, for MNIST and CIFAR")
{
  const auto lenet = [](int padding) {
    return Lines{fmt::format("convolution channels=6 kernel=5 padding={}", padding),
                 "relu",
                 "max_pooling kernel=2 stride=2",
                 "convolution channels=16 kernel=5",
                 "relu",
                 "max_pooling kernel=2 stride=2",
                 "inner_product outputs=120",
                 "relu",
                 "inner_product outputs=84",
                 "relu",
                 "inner_product outputs=classes"};
  };
  for (const auto& which : {Case{lenet(2), {1, 28, 28}}, Case{lenet(0), {3, 32, 32}}})
    for (const bool lanes : {false, true}) {
      auto options = options_of(which);
      options.image_lanes = lanes;
      const auto [furthest, what] = Comparison(which, options).run();
      INFO(what << " of " << which.image.channels << " channels, image lanes " << lanes);
      CHECK(furthest <= 2e-6); // five layers of sums of up to 400 terms, rounded to 2^-24 at random
    }
}
