#include "cli/recipe_text/recipe_choices.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/number.hpp"
#include "core/spec/input_shape.hpp"
#include "core/spec/names.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::string_view no_study = "none";
constexpr std::int64_t largest_batch = 65536;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

std::int64_t parse_size(const std::string& word)
{
  constexpr std::int64_t most = 1'000'000;
  const auto size = number_of<std::int64_t>(word).value_or(0);
  if (size < 1 || size > most)
    refuse(fmt::format("\"{}\" is not a whole number from 1 to {}; write sizes such as 1,2,4", printable(word), most));
  return size;
}

std::vector<std::string> words_between_commas(std::string_view text)
{
  auto words = split(text, ',');
  for (auto& word : words) word = std::string(trim(word));
  return words;
}

// The first value that is there twice.
template<class Value> std::optional<Value> repeated(const std::vector<Value>& values)
{
  std::set<Value> seen;
  for (const auto& value : values)
    if (!seen.insert(value).second) return value;
  return std::nullopt;
}

bool any_has_servers(const RecipeChoices& choices)
{
  return std::any_of(choices.strategies.begin(), choices.strategies.end(),
                     [](const std::string& strategy) { return strategy_row(strategy).has_servers; });
}

DataSpec named(std::string_view name)
{
  DataSpec data;
  data.name = name;
  return data;
}

bool has_large_images(const RecipeChoices& choices)
{
  const bool fits_model = choices.data == "synthetic" || choices.data == "packed";
  const auto* facts = fits_model ? find_model_facts(choices.model) : nullptr;
  return facts != nullptr && facts->natural.height > 64;
}

// The smallest number that all numbers of workers divide. Nothing if it exceeds largest_batch.
std::optional<std::int64_t> common_multiple(const RecipeChoices& choices)
{
  std::int64_t multiple = 1;
  for (const auto size : choices.sizes)
    for (const auto& strategy : choices.strategies) {
      multiple = std::lcm(multiple, workers_at(choices, size, strategy));
      if (multiple > largest_batch) return std::nullopt;
    }
  return multiple;
}

// The batch, or less if an epoch of the data set would have fewer than 8 steps of that many batches.
std::int64_t few_enough(const RecipeChoices& choices, std::int64_t batches, std::int64_t batch)
{
  constexpr std::int64_t steps = 8;
  return choices.samples == 0 ? batch : std::clamp<std::int64_t>(choices.samples / (steps * batches), 1, batch);
}

// "1 rank", "3 nodes"
std::string size_text(const RecipeChoices& choices, std::int64_t size)
{
  const std::string_view word = choices.unit == SizeUnit::nodes ? "node" : choices.unit == SizeUnit::parts ? "part" : "rank";
  return counted(size, word);
}

void check_workers(const RecipeChoices& choices)
{
  for (const auto size : choices.sizes)
    for (const auto& strategy : choices.strategies)
      if (workers_at(choices, size, strategy) < 1)
        refuse(fmt::format("{} has a parameter server, which is a rank that does not train, so a size of {} has no rank that "
                           "trains; give at least {}",
                           strategy, size_text(choices, size), size_text(choices, 2)));
}

void check_sizes(const RecipeChoices& choices)
{
  if (!choices.study && choices.sizes.size() > 1)
    refuse("--study none takes one size; give --study strong or --study weak for several");
  const bool is_partition = choices.study == StudyMode::partition;
  if (is_partition != (choices.unit == SizeUnit::parts))
    refuse(is_partition ? "--study partition divides the cores of one node, so its sizes are --parts"
                        : "--parts are the sizes of --study partition; give --ranks or --nodes");
  if (choices.ranks_per_node > 1 && choices.unit != SizeUnit::nodes)
    refuse("--ranks-per-node needs --nodes; --ranks are ranks in all, on one node");
}

void check_division(const RecipeChoices& choices)
{
  if (choices.global_batch == 0) return;
  for (const auto size : choices.sizes)
    for (const auto& strategy : choices.strategies) {
      const auto workers = workers_at(choices, size, strategy);
      if (choices.global_batch % workers == 0) continue;
      const auto all = common_multiple(choices);
      const auto next = all ? fmt::format("give a multiple of {}", *all) : "choose other sizes, or --study weak";
      refuse(fmt::format("--global-batch {} is not a multiple of the {} ranks that train with {} on {}; {}", choices.global_batch,
                         workers, strategy, size_text(choices, size), next));
    }
}

} // namespace

std::vector<std::int64_t> parse_sizes(std::string_view text)
{
  std::vector<std::int64_t> sizes;
  for (const auto& word : words_between_commas(text)) sizes.push_back(parse_size(word));
  if (const auto twice = repeated(sizes))
    refuse(fmt::format("{} is there twice; for several runs of a size give --repeats", *twice));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<std::string> parse_strategies(std::string_view text)
{
  auto strategies = words_between_commas(text);
  for (const auto& strategy : strategies)
    if (!contains(strategy_names(), strategy)) refuse(unknown_name("strategy", strategy, strings_of(strategy_names())));
  if (const auto twice = repeated(strategies)) refuse(*twice + " is there twice");
  return strategies;
}

std::vector<std::string> study_words()
{
  auto words = strings_of(choice_names<StudyMode>());
  words.emplace_back(no_study);
  return words;
}

std::optional<StudyMode> parse_study(std::string_view text)
{
  if (text == no_study) return std::nullopt;
  if (const auto mode = find_choice<StudyMode>(text)) return mode;
  refuse(unknown_name("kind of study", text, study_words()));
}

std::string default_data(std::string_view model)
{
  for (const auto* data : {"digits", "shapes"})
    if (model == "custom" || is_known_to_fit(model, data)) return data;
  return "synthetic";
}

std::string default_model(std::string_view data)
{
  for (const auto* model : {"lenet", "resnet20"})
    if (is_known_to_fit(model, data)) return model;
  return "lenet";
}

bool is_known_to_fit(std::string_view model, std::string_view data)
{
  if (model == "custom" || data == "synthetic") return true;
  const auto* facts = find_model_facts(model);
  const auto shape = input_shape_of(named(data));
  return facts != nullptr && shape && image_text(facts->natural) == image_text(*shape);
}

std::vector<std::int64_t> default_sizes(const RecipeChoices& choices, std::int64_t cores)
{
  const bool is_single_node = choices.unit != SizeUnit::nodes;
  const std::int64_t servers = any_has_servers(choices) && choices.ranks_per_node == 1 ? 1 : 0;
  // With one worker there is nothing to synchronise.
  const std::int64_t needed = any_has_servers(choices) || choices.strategies.size() > 1 ? 2 : 1;
  std::vector<std::int64_t> sizes;
  for (const std::int64_t workers : {1, 2, 4}) {
    const auto size = workers + servers;
    if (workers <= needed || !is_single_node || size <= cores) sizes.push_back(size);
  }
  if (!choices.study || !choices.exchanges) sizes = {needed > 1 ? sizes.back() : sizes.front()};
  return sizes;
}

std::int64_t ranks_at(const RecipeChoices& choices, std::int64_t size)
{
  return choices.unit == SizeUnit::nodes ? size * choices.ranks_per_node : size;
}

std::int64_t workers_at(const RecipeChoices& choices, std::int64_t size, const std::string& strategy)
{
  return ranks_at(choices, size) - (strategy_row(strategy).has_servers ? 1 : 0);
}

std::int64_t largest_step(const RecipeChoices& choices)
{
  if (choices.global_batch > 0) return choices.global_batch;
  std::int64_t ranks = 1;
  for (const auto size : choices.sizes) ranks = std::max(ranks, ranks_at(choices, size));
  return choices.batch_per_rank * ranks;
}

void choose_batch(RecipeChoices& choices)
{
  if (choices.global_batch > 0 || choices.batch_per_rank > 0) return;
  const bool is_large = has_large_images(choices);
  if (choices.study == StudyMode::weak) {
    std::int64_t workers = 1;
    for (const auto size : choices.sizes) workers = std::max(workers, ranks_at(choices, size));
    choices.batch_per_rank = few_enough(choices, workers, is_large ? 8 : 32);
    return;
  }
  const auto multiple = common_multiple(choices);
  if (!multiple)
    refuse(fmt::format("no global batch up to {} can be divided among the workers of all these sizes; choose other sizes, or "
                       "--study weak, where every rank keeps its batch",
                       largest_batch));
  const auto wanted = few_enough(choices, 1, is_large ? 16 : 128);
  choices.global_batch = (wanted + *multiple - 1) / *multiple * *multiple;
}

void check_batch(const RecipeChoices& choices)
{
  if (choices.study == StudyMode::scaling && !choices.is_program())
    refuse("--study scaling is for a program of your own (--program); dtengine keeps the batch that the recipe gives");
  if (choices.global_batch > 0 && choices.batch_per_rank > 0) refuse("give --global-batch or --batch-per-rank, not both");
  if (choices.study == StudyMode::weak && choices.global_batch > 0)
    refuse("in a weak-scaling study the batch of each rank stays the same; give --batch-per-rank instead of --global-batch");
  if ((choices.study == StudyMode::strong || choices.study == StudyMode::partition) && choices.batch_per_rank > 0)
    refuse(fmt::format("in a {} study the global batch stays the same; give --global-batch instead of --batch-per-rank",
                       choices.study == StudyMode::strong ? "strong-scaling" : "partition"));
}

void check_choices(const RecipeChoices& choices)
{
  check_sizes(choices);
  check_workers(choices);
  check_batch(choices);
  check_division(choices);
}

} // namespace dt::cli
