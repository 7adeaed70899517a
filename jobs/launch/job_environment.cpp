#include "jobs/launch/job_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

namespace dt::jobs {
namespace {

// Exported functions of bash that load modules: `module`, `ml`, and what they call (`_module_raw`).
bool is_module_function(std::string_view name)
{
  constexpr std::string_view prefix = "BASH_FUNC_";
  if (!name.starts_with(prefix)) return false;
  const auto function = name.substr(prefix.size(), name.find_first_of("%(") - prefix.size());
  return function == "ml" || function.find("module") != std::string_view::npos;
}

} // namespace

std::map<std::string, std::string> environment_to_keep()
{
  // An MPI library that was moved finds its files by OPAL_PREFIX (Open MPI) or I_MPI_ROOT (Intel MPI).
  constexpr std::array<std::string_view, 23> kept{"PATH",
                                                  "HOME",
                                                  "USER",
                                                  "LOGNAME",
                                                  "SHELL",
                                                  "LANG",
                                                  "LANGUAGE",
                                                  "TZ",
                                                  "TMPDIR",
                                                  "LD_LIBRARY_PATH",
                                                  "OPAL_PREFIX",
                                                  "I_MPI_ROOT",
                                                  "MODULEPATH",
                                                  "MODULESHOME",
                                                  "MODULES_CMD",
                                                  "XDG_RUNTIME_DIR",
                                                  "ASAN_OPTIONS",
                                                  "UBSAN_OPTIONS",
                                                  "TSAN_OPTIONS",
                                                  "MODULE_VERSION",
                                                  "MODULE_VERSION_STACK",
                                                  "DTCTL_NVML",
                                                  "DTCTL_POWERCAP"};
  std::map<std::string, std::string> environment{{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  for (char** word = environ; *word != nullptr; ++word) {
    const std::string_view text(*word);
    const auto name = text.substr(0, text.find('='));
    if (name.size() == text.size()) continue;
    if (is_module_function(name) || name.starts_with("LC_") || name.starts_with("LMOD_") ||
        std::find(kept.begin(), kept.end(), name) != kept.end())
      environment[std::string(name)] = text.substr(name.size() + 1);
  }
  return environment;
}

} // namespace dt::jobs
