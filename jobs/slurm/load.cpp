#include "jobs/slurm/load.hpp"

#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

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

OpenSlurmApi load_module()
{
  const auto path = slurm_module();
  if (path.empty())
    throw trouble("This dtctl was built without Slurm (libdtctl_slurm.so is missing): build it where Slurm's headers "
                  "(libslurm-dev) are installed, or use resources.scheduler: local.");
  // RTLD_GLOBAL: the module and Slurm's own plugins need libslurm's symbols. Without them a plugin ends the process.
  if (dlopen(DTCTL_LIBSLURM, RTLD_LAZY | RTLD_GLOBAL) == nullptr)
    throw trouble("Slurm's library cannot be loaded here (" + loader_words() +
                  "): install the version that dtctl was built for, or use resources.scheduler: local.");
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = module == nullptr ? nullptr : dlsym(module, open_slurm_api_symbol);
  if (symbol == nullptr)
    throw trouble(path.string() + " does not belong to this dtctl (" + loader_words() + "): install dtctl again.");
  return reinterpret_cast<OpenSlurmApi>(symbol);
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

std::unique_ptr<SlurmApi> open_slurm()
{
  const auto open = load_module();
  const auto path = slurm_configuration();
  std::error_code error;
  // libslurm would wait one minute for a missing file.
  if (!path.empty() && !fs::exists(path, error))
    throw trouble("Slurm cannot be used here: SLURM_CONF names " + path.string() + ", which is not there.");
  try_in_child(open);
  return std::unique_ptr<SlurmApi>(open());
}

} // namespace dt::jobs::slurm
