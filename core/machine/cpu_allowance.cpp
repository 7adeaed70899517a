#include "core/machine/cpu_allowance.hpp"

#include "core/machine/control_groups.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <sys/stat.h>

#include <fmt/format.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

// Cores' worth of time that a group allows; nothing without a quota.
std::optional<double> quota_of(const ControlGroup& group)
{
  std::optional<std::int64_t> time_us, period_us;
  if (group.version == 1) {
    time_us = number_in(group.text_of("cpu.cfs_quota_us")); // -1: no quota
    period_us = number_in(group.text_of("cpu.cfs_period_us"));
  } else {
    const auto text = group.text_of("cpu.max"); // "50000 100000" or "max 100000"
    time_us = number_in(text);
    period_us = number_in(std::string_view(text).substr(std::min(text.find(' '), text.size())));
  }
  if (!time_us || !period_us || *time_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*time_us) / static_cast<double>(*period_us);
}

std::optional<double> throttled_s(const ControlGroup& group)
{
  const auto stat = group.text_of("cpu.stat");
  const auto time = group.version == 1 ? number_of(stat, "throttled_time ") : number_of(stat, "throttled_usec ");
  if (!time) return std::nullopt;
  return static_cast<double>(*time) * (group.version == 1 ? 1e-9 : 1e-6);
}

// Equal for all who see this group, under whatever name a container shows it.
std::string identity_of(const ControlGroup& group)
{
  struct stat status {};
  if (::stat(group.folder.c_str(), &status) != 0) return group.name;
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

} // namespace

bool CpuAllowance::has_quota() const { return quota < static_cast<double>(cores.size()); }

std::size_t CpuAllowance::whole_cores() const
{
  constexpr double rounding = 1e-3; // a quota of 199999 of 100000 us is meant as 2 cores
  const auto paid_for = has_quota() ? static_cast<std::size_t>(std::max(1.0, std::floor(quota + rounding))) : cores.size();
  return std::max<std::size_t>(1, std::min(paid_for, cores.size()));
}

std::string CpuAllowance::quota_text() const
{
  if (!has_quota()) return {};
  return fmt::format("control group {} has a CPU quota of {:.3g} core{}", printable(group), quota, quota == 1 ? "" : "s");
}

CpuAllowance cpu_allowance(const fs::path& root, const std::string& process)
{
  CpuAllowance allowance{.cores = cores_in_mask()};
  for (const auto& group : control_groups("cpu", root, process))
    if (const auto quota = quota_of(group); quota && *quota < allowance.quota) {
      allowance.quota = *quota;
      allowance.group = group.name;
    }
  return allowance;
}

std::map<std::string, double> throttled_times(const fs::path& root, const std::string& process)
{
  std::map<std::string, double> times;
  for (const auto& group : control_groups("cpu", root, process))
    if (const auto time = throttled_s(group)) times[identity_of(group)] = *time;
  return times;
}

std::string mask_text(const std::vector<int>& cores)
{
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? std::to_string(cores[i]) : fmt::format("{}-{}", cores[i], cores[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> parse_mask(const std::string& text)
{
  std::vector<int> cores;
  if (text.empty()) return cores;
  for (const auto& range : split(text, ',')) {
    const auto ends = split(range, '-');
    const int last = std::stoi(ends.back());
    for (int core = std::stoi(ends.front()); core <= last; ++core) cores.push_back(core);
  }
  return cores;
}

} // namespace dt
