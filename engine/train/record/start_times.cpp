#include "engine/train/record/start_times.hpp"

#include "core/text.hpp"
#include "core/units.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace dt::train {
namespace {

double launch_unix_s()
{
  const char* text = std::getenv("DTCTL_LAUNCH_UNIX_S");
  const double given = text == nullptr ? 0 : std::strtod(text, nullptr);
  return given > 0 ? given : now_unix_s();
}

} // namespace

StartTimes::StartTimes(double launched_unix_s, double (*now_s)())
    : now_s_(now_s), begin_s_(launched_unix_s), last_s_(launched_unix_s)
{
}

StartTimes::StartTimes() : StartTimes(launch_unix_s(), now_unix_s) {}

void StartTimes::end(const char* phase)
{
  const double now_s = now_s_();
  phases_.emplace_back(phase, now_s - last_s_);
  last_s_ = now_s;
}

std::string StartTimes::words() const
{
  std::vector<std::string> parts;
  for (const auto& [phase, seconds] : phases_) parts.push_back(fmt::format("{} {:.3f}", phase, seconds));
  return fmt::format("{:.3f} s: {}", total_s(), join(parts, ", "));
}

} // namespace dt::train
