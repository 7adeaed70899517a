#include "engine/nn/model_registry.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::engine {
namespace {

constexpr NaturalInput digits{{1, 28, 28}, 10};

struct Entry {
  std::string_view name;
  NaturalInput input;
  Tensor (*describe)(ModelBuilder&);
};

constexpr std::array registry{
    Entry{"lenet", digits, lenet},
};

const Entry& entry_of(const std::string& model)
{
  for (const auto& entry : registry)
    if (entry.name == model) return entry;
  throw Error(ErrorKind::recipe,
              fmt::format("There is no model '{}'. Known models: {}.", model, fmt::join(registered_models(), ", ")));
}

} // namespace

Model build_model(const NetworkOptions& options)
{
  const auto& entry = entry_of(options.model);
  ModelBuilder builder({.model = options.model,
                        .image = options.image,
                        .classes = options.classes,
                        .dropout = options.dropout,
                        .reference = options.reference});
  return builder.finish(entry.describe(builder));
}

NaturalInput natural_input(const std::string& model) { return entry_of(model).input; }

std::vector<std::string> registered_models()
{
  std::vector<std::string> names;
  for (const auto& entry : registry) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::engine
