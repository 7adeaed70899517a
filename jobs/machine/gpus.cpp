#include "jobs/machine/gpus.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string_view>

namespace dt::jobs {
namespace {

bool is_numbered(std::string_view name, std::string_view prefix)
{
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return is_digits(name);
}

} // namespace

std::int64_t gpus_here(const std::filesystem::path& devices)
{
  const auto names = names_in(devices);
  const auto nvidia = std::count_if(names.begin(), names.end(), [](const auto& name) { return is_numbered(name, "nvidia"); });
  if (nvidia > 0 || std::find(names.begin(), names.end(), "kfd") == names.end()) return nvidia;
  const auto dri = names_in(devices / "dri");
  return std::count_if(dri.begin(), dri.end(), [](const auto& name) { return is_numbered(name, "renderD"); });
}

} // namespace dt::jobs
