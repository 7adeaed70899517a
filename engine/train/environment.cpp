#include "engine/train/environment.hpp"

#include "core/file.hpp"
#include "core/paths.hpp"
#include "core/run_key.hpp"
#include "core/text.hpp"

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <mpi.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace dt::engine {
namespace {

// "AMD EPYC …" of /proc/cpuinfo's first "model name : …"; "unknown" where the kernel does not say.
std::string cpu_model()
{
  const auto text = read_file_if_exists("/proc/cpuinfo").value_or("");
  for (const auto& line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return "unknown";
}

// "Open MPI v4.1.4": the library's text up to the first comma or line end.
std::string mpi_version()
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string dnnl_version_text()
{
  const auto* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string compiler()
{
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::int64_t memory_bytes() { return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE); }

void add_variable(std::map<std::string, std::string>& environment, const char* key, const char* variable)
{
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') environment[key] = value;
}

} // namespace

std::string engine_version() { return DTCTL_VERSION; }

std::string engine_build() { return read_build_id(own_program()); }

std::map<std::string, std::string> describe_environment()
{
  utsname system{};
  uname(&system);
  std::map<std::string, std::string> environment{
      {"cpu_model", cpu_model()},
      {"architecture", system.machine},
      {"cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
      {"memory_bytes", std::to_string(memory_bytes())},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
      {"mpi_version", mpi_version()},
      {"dnnl_version", dnnl_version_text()},
      {"compiler", compiler()},
      {"build_type", DTCTL_BUILD_TYPE},
      {"engine_version", engine_version()},
      {"engine_build", engine_build()},
  };
  add_variable(environment, "git_state", "DTCTL_GIT_STATE");
  add_variable(environment, "modules", "LOADEDMODULES");
  return environment;
}

} // namespace dt::engine
