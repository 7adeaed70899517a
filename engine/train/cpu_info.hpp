// What Linux tells about this machine's processors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dt::engine {

// A field of a core's paragraph in /proc/cpuinfo: "AMD EPYC …" for "model name".
std::optional<std::string> cpu_info(int core, std::string_view field);

// A file of a core's frequency control, without its line end: "performance" for "scaling_governor". Nothing where the machine
// has no such control, as in many virtual ones.
std::optional<std::string> cpu_frequency(int core, std::string_view file);

// The clock of the core that this thread is on, in MHz, as frequency control or else /proc/cpuinfo tells it; NaN where neither
// does.
double current_clock_mhz();

} // namespace dt::engine
