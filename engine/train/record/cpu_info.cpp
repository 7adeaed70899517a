#include "engine/train/record/cpu_info.hpp"

#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <sched.h>

namespace dt::train {
namespace {

double number_in(std::string_view text) { return leading_number<double>(text).value_or(not_measured); }

} // namespace

std::optional<std::string> cpu_info(int core, std::string_view field)
{
  const auto text = read_file_if_exists("/proc/cpuinfo").value_or("");
  bool here = false;
  for (const auto& line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto name = trim(std::string_view(line).substr(0, colon)), value = trim(std::string_view(line).substr(colon + 1));
    if (name == "processor") here = value == std::to_string(core);
    if (here && name == field) return std::string(value);
  }
  return std::nullopt;
}

std::optional<std::string> cpu_frequency(int core, std::string_view file)
{
  const auto text = read_file_if_exists(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/{}", core, file));
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

double current_clock_mhz()
{
  const int core = ::sched_getcpu();
  if (const auto khz = cpu_frequency(core, "scaling_cur_freq")) return number_in(*khz) / 1000;
  return number_in(cpu_info(core, "cpu MHz").value_or(""));
}

} // namespace dt::train
