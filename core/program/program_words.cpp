#include "core/program/program_words.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr std::array metrics{
    Name{"step",
         "number of the step, from 0 or 1, in the training or in its epoch; without it the lines that are steps are counted"},
    Name{"loss", "training loss of a step: a line with it, samples or step_s is a step"},
    Name{"samples",
         "samples of all ranks since the last line with it, or since the start: a number that grows from line to line"},
    Name{"step_s", "seconds since the last line with it, without evaluations; other units beside the number are converted"},
    Name{"learning_rate", "learning rate; one that stands alone in a line holds for the steps after it"},
    Name{"epoch", "epochs so far; a number that stands alone in a line holds for the steps after it"},
    Name{"input_s", "seconds of the step in which the program waited for its batch"},
    Name{"forward_s", "seconds of the forward pass"},
    Name{"backward_s", "seconds of the backward pass"},
    Name{"communication_s", "seconds of exposed communication"},
    Name{"optimizer_s", "seconds of the update"},
    Name{"throughput",
         "samples of all ranks per second, as the program measures them; program.throughput says which line counts"},
    Name{"accuracy", "held-out accuracy, 0 to 1: a line with it or eval_loss is an evaluation"},
    Name{"accuracy_percent", "the same, 0 to 100 percent"},
    Name{"eval_loss",
         "loss on the held-out set; its line and that of the accuracy are one evaluation if no step stands between them"},
    Name{"result", "the line that a program prints only when it has finished its training"},
};

} // namespace

std::span<const Name> program_metric_names() { return metrics; }

std::optional<std::string> samples_of_rank(std::string_view text, std::int64_t workers)
{
  constexpr std::string_view dimension = "dimension ", of_all = " of all ranks";
  if (text.starts_with(dimension)) {
    const auto number = number_of<std::int64_t>(text.substr(dimension.size()));
    return number && *number >= 0 && *number < 8 ? std::optional(std::string(text)) : std::nullopt;
  }
  const bool is_of_all = text.ends_with(of_all);
  const auto number = number_of<std::int64_t>(text.substr(0, text.size() - (is_of_all ? of_all.size() : 0)));
  if (!number || *number < 1) return std::nullopt;
  return fmt::format("{}", static_cast<double>(*number) / static_cast<double>(is_of_all ? workers : 1));
}

bool is_engine_key(std::string_view path)
{
  constexpr std::array<std::string_view, 13> others{"engine",
                                                    "resources.platform",
                                                    "train.algorithm_list",
                                                    "train.algorithms",
                                                    "train.algorithms_from",
                                                    "train.checkpoint_every",
                                                    "train.compute_profile",
                                                    "train.final_checkpoint",
                                                    "train.modelled_node_spread",
                                                    "train.modelled_rate",
                                                    "train.modelled_step_spread",
                                                    "train.start_from",
                                                    "train.trace"};
  return path.starts_with("sync.") || path.starts_with("platform.") ||
         std::find(others.begin(), others.end(), path) != others.end();
}

bool has_no_effect(std::string_view path, const ProgramSpec& program)
{
  if (program.command.empty() || !is_engine_key(path)) return false;
  if (path == "train.trace") return !program.sync && program.observe == ProgramObservation::none;
  return !(program.sync && path.starts_with("sync."));
}

std::string variable_of_key(std::string_view path)
{
  std::string name = "DTCTL_";
  for (const char c : path) {
    const bool is_lower = c >= 'a' && c <= 'z', is_other = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_lower ? static_cast<char>(c - 'a' + 'A') : is_other ? c : '_';
  }
  return name;
}

} // namespace dt
