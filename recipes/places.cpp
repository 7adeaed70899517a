// Finds the place of a run's values, for problems that are found after the recipe was read.
#include "recipes/checks/checks.hpp"
#include "recipes/expansion/expand.hpp"
#include "recipes/recipe.hpp"

namespace dt::recipes {
namespace {

// Returns the sweep's assignment of this value to the key; null if no point has it.
const Assignment* assignment_in(const Sweep& sweep, const Key& key, const FieldValue& value)
{
  const auto in_level = [&](const Level& level) -> const Assignment* {
    for (const auto& assignment : level.assignments)
      if (assignment.key == &key && assignment.value == value) return &assignment;
    return nullptr;
  };
  for (const auto& factor : sweep.factors)
    for (const auto& level : factor.levels)
      if (const auto* found = in_level(level)) return found;
  for (const auto& level : sweep.include)
    if (const auto* found = in_level(level)) return found;
  return nullptr;
}

const Assignment* assignment_of(const Resolved& resolved, std::string_view path, const RunSpec& run)
{
  const Key& key = *find_key(path);
  const auto* varied = assignment_in(resolved.sweep, key, value_of(run, key));
  return varied != nullptr ? varied : resolved.settings.find(path);
}

} // namespace

Diagnostic Plan::finding(const RunSpec& run, const std::vector<std::string_view>& keys, std::string message,
                         std::optional<std::size_t> element) const
{
  const auto at = [&](const Mark& mark) {
    return Diagnostic{mark.file ? *mark.file : path, mark.line, mark.column, std::move(message)};
  };
  if (!resolved) return at({});
  for (const auto key : keys)
    if (const auto* given = assignment_of(*resolved, key, run))
      return at(element && *element < given->items.size() ? given->items[*element] : given->mark);
  const auto* block = keys.empty() ? nullptr : resolved->settings.block_of(keys.front());
  return at(block != nullptr ? *block : resolved->file);
}

std::vector<Diagnostic> Plan::find_length_problems(const RunSpec& run, std::int64_t train_samples) const
{
  auto known = run;
  if (known.data.train_samples == 0) known.data.train_samples = train_samples;
  std::vector<Diagnostic> found;
  for (auto& problem : dt::recipes::find_length_problems(known))
    found.push_back(finding(run, problem.keys, std::move(problem.message)));
  return found;
}

} // namespace dt::recipes
