#include "engine/nn/model_registry.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::engine {
namespace {

struct Entry {
  std::string_view name;
  Tensor (*describe)(ModelBuilder&);
};

constexpr std::array registry{
    Entry{"lenet", lenet},
};

} // namespace

Model build_model(const NetworkOptions& options)
{
  for (const auto& entry : registry) {
    if (entry.name != options.model) continue;
    ModelBuilder builder(options.model, options.image, options.classes);
    return builder.finish(entry.describe(builder));
  }
  throw Error(ErrorKind::recipe,
              fmt::format("There is no model '{}'. Known models: {}.", options.model, fmt::join(registered_models(), ", ")));
}

std::vector<std::string> registered_models()
{
  std::vector<std::string> names;
  for (const auto& entry : registry) names.emplace_back(entry.name);
  return names;
}

} // namespace dt::engine
