#include "core/error.hpp"
#include "core/lookup.hpp"
#include "engine/data/sources/data_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

namespace dt::data {
namespace {

using Open = Sources (*)(const DataSpec& spec, const std::filesystem::path& place, std::int64_t seed);

template<Sources (*open)(const DataSpec&, const std::filesystem::path&)>
Sources from_folder(const DataSpec& spec, const std::filesystem::path& folder, std::int64_t)
{
  return open(spec, folder);
}

Sources synthetic(const DataSpec& spec, const std::filesystem::path&, std::int64_t seed) { return open_synthetic(spec, seed); }

struct DataSet {
  std::string_view name;
  Open open;
};

constexpr std::array data_sets{
    DataSet{"digits", from_folder<open_digits>},
    DataSet{"shapes", from_folder<open_shapes>},
    DataSet{"mnist", from_folder<open_mnist>},
    DataSet{"cifar10", from_folder<open_cifar10>},
    DataSet{"cifar100", from_folder<open_cifar100>},
    DataSet{"packed", open_packed},
    DataSet{"synthetic", synthetic},
};

} // namespace

Sources open_sources(const DataSpec& spec, const std::filesystem::path& place, std::int64_t seed)
{
  return lookup(data_sets, "data set", spec.name).open(spec, place, seed);
}

std::vector<std::string> registered_data()
{
  std::vector<std::string> names;
  for (const auto& data_set : data_sets) names.emplace_back(data_set.name);
  return names;
}

} // namespace dt::data
