// The control groups that limit a process, of version 1 and of version 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

struct ControlGroup {
  std::filesystem::path folder; // its files
  std::string name;             // "/slurm/job_7"; "/" is the uppermost group that is visible here
  int version = 2;
  // The text of one of its files. Empty if the group is not visible here, as in a container, or has no such file.
  std::string text_of(const char* file) const;
};

// The groups of a process (its number, or "self") for a controller ("cpu"): its own group first, then all groups above it. Reads
// /proc and /sys/fs/cgroup below `root`.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::filesystem::path& root = "/",
                                         const std::string& process = "self");

// The number at the beginning of a text, after blanks; nothing if there is none, as in "max".
std::optional<std::int64_t> number_in(std::string_view text);
// The number after `name` in the first line that begins with `name`.
std::optional<std::int64_t> number_of(std::string_view text, std::string_view name);

} // namespace dt
