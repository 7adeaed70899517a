#include "jobs/machine/quiet_watch.hpp"

#include "core/files/file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>

#include <unistd.h>

namespace dt::jobs {
namespace {

constexpr double window_s = 2;

std::string counters()
{
  const char* other = std::getenv("DTCTL_PROC_STAT");
  return text_if_readable(other != nullptr && *other != '\0' ? other : "/proc/stat");
}

} // namespace

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", and a line "cpuN" for each core. The guests' time is in
// that of their users.
std::optional<QuietWatch::Look> QuietWatch::look()
{
  std::istringstream lines(counters());
  std::string name;
  std::array<std::int64_t, 8> ticks{};
  if (!(lines >> name) || name != "cpu") return std::nullopt;
  for (auto& count : ticks)
    if (!(lines >> count)) return std::nullopt;
  Look look;
  const auto idle = ticks[3] + ticks[4];
  for (const auto count : ticks) look.total += count;
  look.busy = look.total - idle;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("cpu")) ++look.cores;
  return look.cores > 0 ? std::optional(look) : std::nullopt;
}

std::optional<double> QuietWatch::busy_cores()
{
  const auto now = look();
  if (!now) return std::nullopt;
  cores_ = now->cores;
  if (!begin_ || now->total < begin_->total) begin_ = now;
  const auto passed = static_cast<double>(now->total - begin_->total);
  if (passed < window_s * static_cast<double>(::sysconf(_SC_CLK_TCK) * now->cores)) return busy_cores_;
  busy_cores_ = static_cast<double>(now->busy - begin_->busy) / passed * static_cast<double>(now->cores);
  begin_ = now;
  return busy_cores_;
}

double QuietWatch::least_busy() const { return std::max(0.5, static_cast<double>(cores_) / 50); }

} // namespace dt::jobs
