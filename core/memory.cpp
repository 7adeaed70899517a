#include "core/memory.hpp"

#include "core/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace dt {
namespace {

namespace fs = std::filesystem;

struct CgroupVersion {
  const char *mount, *limit, *usage, *reclaimable; // mount point below the root; file names in a group; key in its memory.stat
};
constexpr CgroupVersion version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr CgroupVersion version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

std::string text_of(const fs::path& path) { return read_file_if_exists(path).value_or(""); }

// Reads a number at the beginning of a text, after blanks. Returns nothing if there is none, as in "max".
std::optional<std::int64_t> number_in(std::string_view text)
{
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

// Reads the number after `name` in the first line that begins with `name`.
std::optional<std::int64_t> number_of(const std::string& text, const std::string& name)
{
  for (const auto& line : split(text, '\n'))
    if (line.starts_with(name)) return number_in(std::string_view(line).substr(name.size()));
  return std::nullopt;
}

std::optional<std::int64_t> left_in(const fs::path& group, const CgroupVersion& version)
{
  const auto limit = number_in(text_of(group / version.limit)), usage = number_in(text_of(group / version.usage));
  if (!limit || !usage) return std::nullopt;
  const auto reclaimable = number_of(text_of(group / "memory.stat"), std::string(version.reclaimable) + " ").value_or(0);
  return std::max<std::int64_t>(1, *limit - std::max<std::int64_t>(0, *usage - reclaimable));
}

bool has_memory(std::string_view controllers)
{
  const auto names = split(std::string(controllers), ',');
  return std::find(names.begin(), names.end(), "memory") != names.end();
}

// The smallest amount left in a group and in all groups above it. Groups that are not visible in a container are skipped.
std::int64_t least_left(const fs::path& root, const std::string& path, const CgroupVersion& version, std::int64_t least)
{
  const auto mount = root / version.mount;
  for (auto group = fs::path(path).relative_path();; group = group.parent_path()) {
    if (const auto left = left_in(mount / group, version)) least = std::min(least, *left);
    if (group.empty()) return least;
  }
}

} // namespace

MachineMemory machine_memory(const fs::path& root)
{
  const auto text = text_of(root / "proc/meminfo"); // "MemAvailable:  123 kB"
  MachineMemory memory{number_of(text, "MemTotal:").value_or(0) * 1024, number_of(text, "MemAvailable:").value_or(0) * 1024};
  if (memory.available == 0) return memory;
  for (const auto& line : split(text_of(root / "proc/self/cgroup"), '\n')) { // "4:memory:/path", "0::/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !has_memory(controllers)) continue;
    memory.available = least_left(root, line.substr(second + 1), controllers.empty() ? version_2 : version_1, memory.available);
  }
  return memory;
}

} // namespace dt
