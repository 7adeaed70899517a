#include "core/machine/control_groups.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace dt {
namespace {

namespace fs = std::filesystem;

bool contains(std::string_view controllers, std::string_view controller)
{
  const auto names = split(std::string(controllers), ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

// Version 1 mounts each controller in a folder; those that share one ("cpu,cpuacct") have links named after each.
fs::path mount_of(std::string_view controllers, std::string_view controller, const fs::path& root)
{
  const auto all = root / "sys/fs/cgroup";
  if (controllers.empty()) return all;
  std::error_code none;
  return fs::exists(all / controller, none) ? all / controller : all / controllers;
}

} // namespace

std::string ControlGroup::text_of(const char* file) const { return text_if_readable(folder / file); }

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root, const std::string& process)
{
  std::vector<ControlGroup> groups;
  for (const auto& line : split(text_if_readable(root / "proc" / process / "cgroup"), '\n')) { // "4:memory:/path", "0::/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !contains(controllers, controller)) continue;
    const auto mount = mount_of(controllers, controller, root);
    for (auto group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      groups.push_back({mount / group, "/" + group.string(), controllers.empty() ? 2 : 1});
      if (group.empty()) break;
    }
  }
  return groups;
}

std::optional<std::int64_t> number_in(std::string_view text)
{
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return leading_number<std::int64_t>(text);
}

std::optional<std::int64_t> number_of(std::string_view text, std::string_view name)
{
  for (const auto& line : split(std::string(text), '\n'))
    if (line.starts_with(name)) return number_in(std::string_view(line).substr(name.size()));
  return std::nullopt;
}

} // namespace dt
