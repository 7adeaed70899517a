#include "jobs/slurm/access/load.hpp"

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/slurm_commands.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::jobs::slurm {
namespace {

namespace fs = std::filesystem;

// Reading an existing configuration takes milliseconds. Without a file, libslurm asks the DNS for a server, which can take long.
constexpr double limit_with_file_s = 10, limit_without_file_s = 3;

Error trouble(const std::string& sentence) { return {ErrorKind::scheduler, sentence}; }

std::string loader_words()
{
  const auto* words = dlerror();
  return words == nullptr ? "no reason given" : words;
}

// Why the library cannot be used; the commands may do.
struct NoLibrary {
  std::string why;
};

struct Module {
  OpenSlurmApi open = nullptr;
  std::string release; // of Slurm, for which it was built
};

template<typename Function> Function function_of(void* module, const fs::path& path, const char* symbol)
{
  void* found = module == nullptr ? nullptr : dlsym(module, symbol);
  if (found == nullptr) throw NoLibrary{path.string() + " does not belong to this dtctl (" + loader_words() + ")"};
  return reinterpret_cast<Function>(found);
}

// RTLD_GLOBAL: the module and Slurm's own plugins need libslurm's symbols. Without them a plugin ends the process.
void* open_library(const fs::path& path)
{
  if (dlopen(DTCTL_LIBSLURM, RTLD_LAZY | RTLD_GLOBAL) == nullptr)
    throw NoLibrary{"Slurm's library for which dtctl was built cannot be loaded here (" + loader_words() + ")"};
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

Module load_module()
{
  const auto path = slurm_module();
  if (path.empty()) throw NoLibrary{"this dtctl was built without Slurm's headers (libdtctl_slurm.so is missing)"};
  void* module = open_library(path);
  const auto open = function_of<OpenSlurmApi>(module, path, open_slurm_api_symbol);
  if (function_of<SlurmText>(module, path, slurm_api_symbol)() != std::string_view(DTCTL_SLURM_API))
    throw NoLibrary{path.string() + " belongs to another dtctl; install dtctl again"};
  return {open, function_of<SlurmText>(module, path, slurm_release_symbol)()};
}

// The child's part of the probe. Sends the messages of libslurm to `descriptor`.
[[noreturn]] void open_in_child(OpenSlurmApi open, int descriptor)
{
  dup2(descriptor, STDERR_FILENO);
  dup2(descriptor, STDOUT_FILENO);
  open();
  _exit(0);
}

// Returns what the child prints until it ends. Sets `in_time` to false if that takes longer than the limit.
std::string listen(int descriptor, double limit_s, bool& in_time)
{
  std::string words;
  const double deadline = now_unix_s() + limit_s;
  for (std::array<char, 512> buffer{};;) {
    const double left_s = deadline - now_unix_s();
    pollfd waiting{descriptor, POLLIN, 0};
    in_time = left_s > 0;
    if (!in_time) return words;
    if (poll(&waiting, 1, static_cast<int>(left_s * 1000) + 1) <= 0) continue;
    const auto count = read(descriptor, buffer.data(), buffer.size());
    if (count <= 0 && errno != EINTR) return words;
    if (count > 0) words.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Error unusable(const std::string& words)
{
  const auto path = slurm_configuration();
  if (path.empty())
    return trouble("Slurm cannot be used here: no slurm.conf was found, also not through DNS; set SLURM_CONF, or use "
                   "resources.scheduler: local.");
  return trouble(fmt::format("Slurm cannot be used here: its library does not accept {}{}.", path.string(),
                             words.empty() ? "" : " (\"" + printable(join(split(trim(words), '\n'), "; ")) + "\")"));
}

// libslurm ends the process if it cannot use the configuration, so a child process tries it first.
void try_in_child(OpenSlurmApi open)
{
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw system_error("a pipe for the look at Slurm's configuration", errno);
  const auto child = fork();
  if (child == 0) open_in_child(open, ends[1]);
  close(ends[1]);
  bool in_time = child > 0;
  const auto words =
      child > 0 ? listen(ends[0], slurm_configuration().empty() ? limit_without_file_s : limit_with_file_s, in_time) : "";
  close(ends[0]);
  if (child < 0) throw system_error("a process for the look at Slurm's configuration", errno);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time || status != 0) throw unusable(words);
}

enum class Way { any, library, commands };

Way wanted_way()
{
  const char* name = std::getenv("DTCTL_SLURM");
  const std::string_view word = name == nullptr ? "" : name;
  if (word.empty()) return Way::any;
  if (word == "library") return Way::library;
  if (word == "commands") return Way::commands;
  throw Error(ErrorKind::usage, "DTCTL_SLURM cannot be `" + printable(word) + "`; it takes library or commands.");
}

// `release`: of the commands; empty if there are none. A library of another release may misread the site's configuration.
OpenedSlurm by_library(const std::string& release, bool is_demanded)
{
  const auto module = load_module();
  if (!is_demanded && !release.empty() && release != module.release)
    throw NoLibrary{fmt::format("dtctl was built for Slurm {}, and the commands here are of {}", module.release, release)};
  try_in_child(module.open);
  return {std::unique_ptr<SlurmApi>(module.open()), fmt::format("{} ({})", DTCTL_LIBSLURM, module.release)};
}

OpenedSlurm by_commands(const std::string& release, const std::string& reason)
{
  const auto missing = missing_commands();
  if (!missing.empty())
    throw trouble(
        fmt::format("Slurm cannot be used here: {} not in PATH, which dtctl needs {}. Put Slurm's commands into PATH (module "
                    "load slurm), or use resources.scheduler: local.",
                    join(missing, ", ") + (missing.size() == 1 ? " is" : " are"), reason));
  return {
      std::make_unique<SlurmCommands>(slurm_configuration(), release),
      fmt::format("the commands sbatch, squeue, scontrol and sacct{}, {}", release.empty() ? "" : " (" + release + ")", reason)};
}

} // namespace

fs::path slurm_module() { return shipped_library("libdtctl_slurm.so"); }

fs::path slurm_configuration()
{
  if (const auto* given = std::getenv("SLURM_CONF"); given != nullptr && *given != '\0') return given;
  for (const auto* place :
       {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"}) {
    std::error_code error;
    if (fs::exists(place, error)) return place;
  }
  return {};
}

OpenedSlurm open_slurm_way()
{
  const auto path = slurm_configuration();
  std::error_code error;
  // libslurm would wait one minute for a missing file.
  if (!path.empty() && !fs::exists(path, error))
    throw trouble("Slurm cannot be used here: SLURM_CONF names " + path.string() + ", which is not there.");
  const auto wanted = wanted_way();
  const auto release = release_of_commands();
  if (wanted == Way::commands) return by_commands(release, "because DTCTL_SLURM demands them");
  try {
    return by_library(release, wanted == Way::library);
  } catch (const NoLibrary& reason) {
    if (wanted == Way::library) throw trouble("DTCTL_SLURM demands Slurm's library, and " + reason.why + ".");
    return by_commands(release, "because " + reason.why);
  }
}

} // namespace dt::jobs::slurm
