#include "engine/train/loop/chosen_algorithms.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/nn/choice/network_algorithms.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::train {
namespace {

constexpr const char* list_origin = "train.algorithm_list";

ChosenAlgorithms timed(const nn::NetworkOptions& options, const AlgorithmSources& sources)
{
  if (sources.recorded)
    return {sources.recorded->algorithms, fmt::format("as attempt {} has recorded", sources.recorded->attempt)};
  const auto chosen = nn::choose_network_algorithms(options, {.cache = sources.cache});
  return {chosen.algorithms, chosen.is_cached ? "timed by an earlier run" : "timed"};
}

ChosenAlgorithms decide(const TrainSpec& train, const nn::NetworkOptions& options, const AlgorithmSources& sources)
{
  switch (train.algorithms) {
  case AlgorithmChoice::timed:
    return timed(options, sources);
  case AlgorithmChoice::rules:
    return {{}, "by the rules"};
  case AlgorithmChoice::fixed:
    return {algorithms_of_lines(train.algorithm_list, list_origin), "fixed"};
  }
  return {};
}

// A choice as text, and back: how it was made, then a line per layer.
std::string to_text(const ChosenAlgorithms& chosen)
{
  auto lines = algorithm_lines(chosen.algorithms);
  lines.insert(lines.begin(), chosen.how);
  return join(lines, "\n");
}

ChosenAlgorithms parse_choice(const std::string& text)
{
  std::vector<std::string> lines;
  for (const auto& line : split(text, '\n')) lines.emplace_back(line);
  const auto how = lines.front();
  lines.erase(lines.begin());
  return {algorithms_of_lines(lines, "rank 0's choice of algorithms"), how};
}

std::string three_words(const LayerAlgorithms& layer)
{
  return fmt::format("{}, {}, {}", name_of(layer.forward), name_of(layer.backward_data), name_of(layer.backward_weights));
}

} // namespace

ChosenAlgorithms choose_algorithms(const TrainSpec& train, const nn::NetworkOptions& options, const AlgorithmSources& sources,
                                   comm::Communicator& comm)
{
  if (options.reference) return {};
  if (train.algorithms != AlgorithmChoice::timed) return decide(train, options, sources);
  const double begin_s = comm::monotonic_s();
  ChosenAlgorithms chosen;
  if (comm.is_root()) {
    comm.activity().enter(comm::Doing::works, "chooses the algorithms of the convolutions");
    chosen = decide(train, options, sources);
  } else {
    comm.activity().enter(comm::Doing::waits, "waits for rank 0 to choose the algorithms of the convolutions");
  }
  comm.sleeping_barrier(); // so that rank 0 times on quiet cores
  const auto text = comm.broadcast_text(comm.is_root() ? to_text(chosen) : "");
  if (!comm.is_root()) return parse_choice(text);
  chosen.seconds = comm::monotonic_s() - begin_s;
  return chosen;
}

void require_fixed_algorithms(const TrainSpec& train, const Algorithms& built)
{
  if (train.algorithms != AlgorithmChoice::fixed) return;
  const auto wanted = algorithms_of_lines(train.algorithm_list, list_origin);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::run, fmt::format("train.algorithms: fixed: {} Train with train.algorithms: timed, or where the list "
                                            "was recorded.",
                                            why));
  };
  for (const auto& [name, layer] : built)
    if (const auto found = wanted.find(name); found == wanted.end())
      refuse(fmt::format("The list has no algorithms for convolution {}.", name));
    else if (found->second != layer)
      refuse(
          fmt::format("The list has {} for convolution {}, but on this processor it would be {} (forward, backward to the data, "
                      "backward to the weights).",
                      three_words(found->second), name, three_words(layer)));
  for (const auto& [name, layer] : wanted)
    if (!built.contains(name)) refuse(fmt::format("The list names {}, which is no convolution of the network.", printable(name)));
}

std::string in_words(const ChosenAlgorithms& chosen, const Algorithms& built)
{
  return built.empty() ? "" : fmt::format("{}: {}", chosen.how, dt::in_words(built));
}

} // namespace dt::train
