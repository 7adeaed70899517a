#include "core/machine/memory.hpp"

#include "core/files/file.hpp"
#include "core/machine/control_groups.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace dt {
namespace {

struct Names {
  const char *limit, *usage, *reclaimable; // two files of a group, and a key in its memory.stat
};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
constexpr Names version_2{"memory.max", "memory.current", "inactive_file "};

std::optional<std::int64_t> left_in(const ControlGroup& group)
{
  const auto& names = group.version == 1 ? version_1 : version_2;
  const auto limit = number_in(group.text_of(names.limit)), usage = number_in(group.text_of(names.usage));
  if (!limit || !usage) return std::nullopt;
  const auto reclaimable = number_of(group.text_of("memory.stat"), names.reclaimable).value_or(0);
  return std::max<std::int64_t>(1, *limit - std::max<std::int64_t>(0, *usage - reclaimable));
}

} // namespace

MachineMemory machine_memory(const std::filesystem::path& root)
{
  const auto text = read_file_if_exists(root / "proc/meminfo").value_or(""); // "MemAvailable:  123 kB"
  MachineMemory memory{number_of(text, "MemTotal:").value_or(0) * 1024, number_of(text, "MemAvailable:").value_or(0) * 1024};
  if (memory.available == 0) return memory;
  for (const auto& group : control_groups("memory", root))
    if (const auto left = left_in(group)) memory.available = std::min(memory.available, *left);
  return memory;
}

} // namespace dt
