// Reads what Linux reports about this machine's processors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dt::train {

// A field of one core in /proc/cpuinfo: "AMD EPYC …" for "model name".
std::optional<std::string> cpu_info(int core, std::string_view field);

// Content of a file of a core's frequency control, trimmed: "performance" for "scaling_governor". Empty if the machine has no
// frequency control, as many virtual machines.
std::optional<std::string> cpu_frequency(int core, std::string_view file);

// Clock in MHz of the core that runs this thread, from its frequency control, otherwise from /proc/cpuinfo; NaN if neither
// reports it.
double current_clock_mhz();

} // namespace dt::train
