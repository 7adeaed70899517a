// study.tune: ranges, budgets and what the settings are compared by.
#include "core/error.hpp"
#include "core/spec/tuned_key.hpp"
#include "core/text.hpp"
#include "recipes/checks/checks.hpp"
#include "recipes/reading/diagnostics.hpp"

namespace dt::recipes {
namespace {

constexpr std::size_t most_keys = 2;
constexpr std::int64_t least_results = 3; // fewer runs have no interval

void check_budget(const RunSpec& spec, std::size_t keys, std::vector<Problem>& problems)
{
  const auto& study = spec.study;
  const auto least = least_tuning_runs(keys);
  if (study.tune.runs < least)
    problems.push_back({{"study.tune.runs", "study.tune.keys"},
                        "`study.tune.runs` is " + std::to_string(study.tune.runs) + "; with fewer than " + std::to_string(least) +
                            " runs the search cannot enclose the best " + (keys == 1 ? "value of a key" : "values of two keys")});
  if (study.repeats < least_results)
    problems.push_back({{"study.repeats", "study.tune.keys"},
                        "`study.repeats` is " + std::to_string(study.repeats) +
                            ", the number of runs of each point with its tuned values, which are compared; give at least " +
                            std::to_string(least_results)});
}

} // namespace

std::vector<Problem> find_tune_problems(const RunSpec& spec)
{
  std::vector<Problem> problems;
  const auto& tune = spec.study.tune;
  if (tune.keys.empty()) return problems;
  const auto add = [&](std::vector<std::string_view> keys, std::string message) {
    problems.push_back({std::move(keys), std::move(message)});
  };
  try {
    if (const auto keys = tuned_keys(spec).size(); keys > most_keys)
      add({"study.tune.keys"}, "`study.tune.keys` has " + std::to_string(keys) + " keys; at most two are tuned together");
    else
      check_budget(spec, keys, problems);
  } catch (const Error& error) {
    add({"study.tune.keys"}, "`study.tune.keys` " + std::string(error.what()));
  }
  const auto metric = ticked(std::string(metric_word(tune.metric).name.name));
  if (spec.is_simulated())
    add({"study.tune.keys", "resources.platform"},
        "a simulated run trains nothing, so nothing can be tuned; remove `study.tune`");
  else if (tune.metric != Metric::accuracy && tune.metric != Metric::loss && spec.train.target_accuracy <= 0)
    add({"study.tune.metric", "study.tune.keys"},
        "`study.tune.metric` is " + metric +
            ", but the run has no target; set `train.target_accuracy`, or take the metric accuracy or loss");
  if (spec.study.layout == StudyLayout::ladder)
    add({"study.layout", "study.tune.keys"},
        "the runs of a ladder share one allocation, but `study.tune` adds runs while it goes on; "
        "it needs `study.layout: separate`");
  return problems;
}

} // namespace dt::recipes
