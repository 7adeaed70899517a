#include "engine/nn/choice/network_algorithms.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/spec/algorithms.hpp"
#include "core/spec/run_key.hpp"
#include "engine/nn/choice/time_convolution.hpp"
#include "engine/nn/choice/timing_budget.hpp"
#include "engine/nn/graph/make_layers.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {
namespace {

// AlgorithmsCache: the choice of a network's algorithms in a folder of the home, for later runs on this kind of processor.

class AlgorithmsCache {
 public:
  // The file algorithms-KEY. KEY is a hash of `network` (all that the choice depends on, but for the machine), the processor's
  // model and instruction sets, oneDNN's version and this program's build id (our own kernels). An empty folder: no cache.
  AlgorithmsCache(std::filesystem::path folder, const std::string& network);
  // Empty if there is no such file or if it cannot be read.
  std::optional<Algorithms> read() const;
  // Atomic. Ignores write errors: without a cache the next run only times again.
  void write(const Algorithms& algorithms) const;

 private:
  std::filesystem::path folder_, file_;
};

// The lines of the first core in /proc/cpuinfo that say its model and its instruction sets ("Features" on Arm).
std::string processor_text()
{
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features")) text += line + "\n";
  return text;
}

std::string library_text()
{
  const auto* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} {}\n", version->major, version->minor, version->patch, version->hash);
}

// Changes with our own kernels. Empty for a program without a build id.
std::string program_text()
{
  try {
    return "program " + read_build_id("/proc/self/exe") + "\n";
  } catch (const Error&) {
    return {};
  }
}

AlgorithmsCache::AlgorithmsCache(std::filesystem::path folder, const std::string& network) : folder_(std::move(folder))
{
  if (!folder_.empty())
    file_ = folder_ / ("algorithms-" + hash_hex(processor_text() + library_text() + program_text() + network));
}

std::optional<Algorithms> AlgorithmsCache::read() const
{
  if (folder_.empty()) return {};
  try {
    const auto text = read_file_if_exists(file_);
    return text ? std::optional(parse_algorithms(*text, file_.string())) : std::nullopt;
  } catch (const Error&) {
    return {};
  }
}

void AlgorithmsCache::write(const Algorithms& algorithms) const
{
  if (!folder_.empty()) keep_file(file_, to_json(algorithms));
}

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_lane_channels = 32; // with more, image lanes are not timed

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Without other algorithms than the rules', and without sums over ranks: only one rank times.
NetworkOptions plain(NetworkOptions options)
{
  options.algorithms.clear();
  options.image_lanes = false;
  options.synchronize = {};
  return options;
}

ConvolutionCase case_of(const Convolution& layer, const LayerGraph& graph, const NetworkOptions& options)
{
  return {.input = layer.input().shape,
          .output = layer.output().shape,
          .spec = layer.spec(),
          .relu = layer.has_relu(),
          .needs_gradient = layer.input().id != graph.input.id,
          .batch = options.batch,
          .threads = options.threads,
          .precision = options.precision,
          .winograd = options.winograd};
}

std::map<std::string, ConvolutionCase> convolutions_of(const LayerGraph& graph, const NetworkOptions& options)
{
  std::map<std::string, ConvolutionCase> found;
  for (const auto& layer : graph.layers)
    if (const auto* convolution = dynamic_cast<const Convolution*>(layer.get()))
      found.emplace(layer->name(), case_of(*convolution, graph, options));
  return found;
}

// Equal for equal cases.
std::string text_of(const ConvolutionCase& of)
{
  const auto& spec = of.spec;
  return fmt::format("{} to {} kernel {} stride {} padding {} groups {} bias {} relu {} gradient {}", to_text(of.input),
                     to_text(of.output), spec.kernel, spec.stride, spec.padding, spec.groups, spec.bias, of.relu,
                     of.needs_gradient);
}

// All that the choice depends on, but for the machine.
std::string text_of(const LayerGraph& graph, const NetworkOptions& options)
{
  auto text = fmt::format("batch {} threads {} {} winograd {}\n", options.batch, options.threads, name_of(options.precision),
                          options.winograd);
  const auto convolutions = convolutions_of(graph, options);
  for (const auto& layer : graph.layers) {
    const auto found = convolutions.find(layer->name());
    text += fmt::format("{} {} {} {}\n", layer->name(), layer->description().kind(), to_text(layer->output().shape),
                        found == convolutions.end() ? "" : text_of(found->second));
  }
  return text;
}

bool may_suit_lanes(const NetworkOptions& options)
{
  return options.precision == Precision::fp32 && has_small_layers(model::build_model(model_options(options)), most_lane_channels);
}

Algorithms all_in_lanes(NetworkOptions options)
{
  options.image_lanes = true;
  return Network(options).algorithms();
}

bool fits(const Algorithms& algorithms, const std::map<std::string, ConvolutionCase>& convolutions)
{
  return std::equal(algorithms.begin(), algorithms.end(), convolutions.begin(), convolutions.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; });
}

struct DistinctCase {
  ConvolutionCase of;
  double flops = 0; // of all of the network's convolutions that are like it
  std::string text{};
  LayerAlgorithms chosen{};
};

// Those that differ, the most expensive first: if time runs out, the cheap ones keep the rules.
std::vector<DistinctCase> distinct_cases(const std::map<std::string, ConvolutionCase>& convolutions)
{
  std::map<std::string, DistinctCase> by_text;
  for (const auto& [name, of] : convolutions) {
    auto& found = by_text.try_emplace(text_of(of), DistinctCase{of}).first->second;
    found.flops += flops_of(of);
  }
  std::vector<DistinctCase> cases;
  for (auto& [text, found] : by_text) {
    found.text = text;
    cases.push_back(found);
  }
  std::stable_sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.flops > b.flops; });
  return cases;
}

LayerAlgorithms rule_for(const ConvolutionCase& of) { return ConvolutionTrial(of, rule_layouts(of)).planned(); }

void time_within(double most_s, std::vector<DistinctCase>& cases, const Timers& by, int& timed)
{
  double flops = 0;
  for (const auto& one : cases) flops += one.flops;
  const int threads = cases.front().of.threads;
  TimingBudget budget(seconds_for(flops, threads, most_s), flops, threads);
  for (auto& one : cases) {
    const auto share = budget.share(one.flops);
    const auto small = shrunk(one.of, share.flops_per_run);
    if (!budget.fits(one.flops, flops_of(small))) {
      one.chosen = rule_for(small);
      budget.skip(one.flops);
      continue;
    }
    const auto begin = Clock::now();
    one.chosen = by.convolution(small, share.seconds);
    budget.spend(one.flops, flops_of(small), seconds_since(begin));
    ++timed;
  }
}

Algorithms timed_each(const std::map<std::string, ConvolutionCase>& convolutions, double seconds, const Timers& by, int& timed)
{
  auto cases = distinct_cases(convolutions);
  time_within(seconds, cases, by, timed);
  std::map<std::string, LayerAlgorithms> chosen;
  for (const auto& one : cases) chosen[one.text] = one.chosen;
  Algorithms all;
  for (const auto& [name, of] : convolutions) all[name] = chosen.at(text_of(of));
  return all;
}

// The least time of a step of each of two networks, measured in turn.
bool is_second_clearly_faster(Network& first, Network& second)
{
  constexpr int rounds = 15;
  constexpr double enough_s = 0.08;
  const auto& options = first.options();
  const std::vector<float> images(static_cast<std::size_t>(options.batch * options.image.size()), 0.5F);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(options.batch), 0);
  double first_s = std::numeric_limits<double>::infinity(), second_s = first_s;
  const auto take = [&](Network& network, double& least) {
    const auto begin = Clock::now();
    network.forward_backward(images, labels);
    least = std::min(least, seconds_since(begin));
  };
  const auto begin = Clock::now();
  for (int round = 0; round < rounds && (round < 3 || seconds_since(begin) < enough_s); ++round) {
    take(first, first_s);
    take(second, second_s);
  }
  return second_s < (1 - clearly_faster) * first_s;
}

bool are_lanes_faster(const NetworkOptions& options)
{
  auto with_lanes = plain(options);
  with_lanes.image_lanes = true;
  Network as_chosen(options), in_lanes(with_lanes);
  return is_second_clearly_faster(as_chosen, in_lanes);
}

} // namespace

Timers timers() { return {.convolution = time_convolution, .lanes_are_faster = are_lanes_faster}; }

NetworkAlgorithms choose_network_algorithms(const NetworkOptions& given, const TimingOptions& timing, const Timers& by)
{
  const auto begin = Clock::now();
  NetworkAlgorithms chosen;
  if (given.reference) return chosen;
  auto options = plain(given);
  const auto graph = make_network_layers(options);
  const auto convolutions = convolutions_of(graph, options);
  if (convolutions.empty()) return chosen;
  const AlgorithmsCache cache(timing.cache, text_of(graph, options));
  if (const auto kept = cache.read(); kept && fits(*kept, convolutions)) {
    chosen.algorithms = *kept;
    chosen.is_cached = true;
  } else {
    options.algorithms = timed_each(convolutions, timing.seconds, by, chosen.timed);
    chosen.algorithms = options.algorithms;
    if (may_suit_lanes(options) && by.lanes_are_faster(options)) chosen.algorithms = all_in_lanes(plain(given));
    // Of two programs that time at the same moment, both take the choice of the first.
    if (const auto others = cache.read(); others && fits(*others, convolutions))
      chosen.algorithms = *others;
    else
      cache.write(chosen.algorithms);
  }
  chosen.seconds = seconds_since(begin);
  return chosen;
}

} // namespace dt::nn
