#include "cli/recipe_text/packed_choice.hpp"

#include "cli/data/data_sets.hpp"
#include "core/error.hpp"
#include "core/spec/names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::int64_t usual_side = 224; // of images for networks without a size of their own

std::int64_t natural_side(const std::string& model, const PackedChoice& set)
{
  const auto* facts = find_model_facts(model);
  return facts != nullptr ? facts->natural.height : std::min(set.min_side, usual_side);
}

InputShape square(InputShape shape, std::int64_t side)
{
  shape.height = shape.width = side;
  return shape;
}

} // namespace

std::vector<PackedChoice> packed_choices(const Home& home)
{
  std::vector<PackedChoice> choices;
  for (const auto& set : data_sets(home)) {
    if (set.kind != "packed" || contains(data_names(), set.name)) continue;
    const PackedFile file(home.packed_set(set.name));
    const auto& facts = file.description();
    choices.push_back({.name = set.name,
                       .shape = {facts.channels, facts.height, facts.width, static_cast<std::int64_t>(facts.classes.size())},
                       .min_side = facts.height > 0 ? std::min(facts.height, facts.width) : facts.min_side,
                       .train_samples = facts.train_samples});
  }
  return choices;
}

std::string default_model(const PackedChoice& set)
{
  if (set.shape.channels == 1) return "lenet";
  return set.min_side >= usual_side / 2 ? "resnet18" : "resnet20";
}

std::int64_t image_size_for(const std::string& model, const PackedChoice& set, const Objection& objection)
{
  const auto side = natural_side(model, set);
  const bool has_size = find_model_facts(model) != nullptr;
  const bool is_small = set.shape.height > 0 && (!has_size || std::max(set.shape.height, set.shape.width) <= side);
  if (is_small && objection(model, set.shape).empty()) return 0;
  if (const auto reason = objection(model, square(set.shape, side)); !reason.empty())
    throw Error(ErrorKind::usage, fmt::format("{} cannot train on the packed set {}: {}", model, set.name, reason));
  return side;
}

} // namespace dt::cli
