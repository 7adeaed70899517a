#include "jobs/slurm/access/load.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "jobs/slurm/access/site_output.hpp"
#include "jobs/slurm/access/slurm_commands.hpp"

#include <cstdlib>
#include <map>

#include <dlfcn.h>
#include <fmt/format.h>

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
  OpenSlurmLibrary open = nullptr;
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
  const auto open = function_of<OpenSlurmLibrary>(module, path, open_slurm_symbol);
  if (function_of<SlurmText>(module, path, slurm_api_symbol)() != std::string_view(DTCTL_SLURM_API))
    throw NoLibrary{path.string() + " belongs to another dtctl; install dtctl again"};
  return {open, function_of<SlurmText>(module, path, slurm_release_symbol)()};
}

// The release of the commands in PATH: "22.05"; empty if they do not say. They read the configuration as the library does, which
// would end this process if it cannot use it.
std::string look_at_commands(const fs::path& configuration)
{
  const auto answer = run_command({"scontrol", "--version"}, configuration.empty() ? limit_without_file_s : limit_with_file_s);
  if (answer.ok()) return read_release(answer.out);
  if (configuration.empty())
    throw trouble("Slurm cannot be used here: no slurm.conf was found, also not through DNS; set SLURM_CONF, or use "
                  "resources.scheduler: local.");
  throw trouble(fmt::format("Slurm cannot be used here: its commands do not accept {} (\"{}\").", configuration.string(),
                            printable(join(split(trim(answer.err), '\n'), "; "))));
}

// A verb may open Slurm for each of a thousand runs: the same commands and configuration are looked at once.
std::string release_of_commands(const fs::path& configuration)
{
  static std::map<std::pair<std::string, fs::path>, std::string> releases;
  const char* path = std::getenv("PATH");
  const std::pair key(std::string(path == nullptr ? "" : path), configuration);
  const auto known = releases.find(key);
  return known != releases.end() ? known->second : releases[key] = look_at_commands(configuration);
}

// $DTCTL_SLURM: the only way that the user allows; empty: any.
std::string demanded_way()
{
  const char* name = std::getenv("DTCTL_SLURM");
  const std::string word = name == nullptr ? "" : name;
  if (word.empty() || word == "library" || word == "commands") return word;
  throw Error(ErrorKind::usage, "DTCTL_SLURM cannot be `" + printable(word) + "`; it takes library or commands.");
}

// `release`: of the commands. A library of another release may misread the site's configuration.
OpenedSlurm with_library(const std::string& release)
{
  const auto module = load_module();
  if (release != module.release)
    throw NoLibrary{fmt::format("dtctl was built for Slurm {}, and the commands here are of {}", module.release, release)};
  return {std::make_unique<SlurmCommands>(release, std::unique_ptr<SlurmLibrary>(module.open())),
          fmt::format("{} ({})", DTCTL_LIBSLURM, module.release)};
}

OpenedSlurm by_commands(const std::string& release, const std::string& reason)
{
  return {std::make_unique<SlurmCommands>(release), fmt::format("the commands sbatch, squeue, scontrol and sacct{}, because {}",
                                                                release.empty() ? "" : " (" + release + ")", reason)};
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
  // Slurm would wait one minute for a missing file.
  if (!path.empty() && !fs::exists(path, error))
    throw trouble("Slurm cannot be used here: SLURM_CONF names " + path.string() + ", which is not there.");
  if (const auto missing = missing_commands(); !missing.empty())
    throw trouble(
        fmt::format("Slurm cannot be used here: {} not in PATH. Put Slurm's commands into PATH (module load slurm), or use "
                    "resources.scheduler: local.",
                    join(missing, ", ") + (missing.size() == 1 ? " is" : " are")));
  const auto demanded = demanded_way();
  const auto release = release_of_commands(path);
  if (demanded == "commands") return by_commands(release, "DTCTL_SLURM demands them");
  try {
    return with_library(release);
  } catch (const NoLibrary& reason) {
    if (demanded == "library") throw trouble("DTCTL_SLURM demands Slurm's library, and " + reason.why + ".");
    return by_commands(release, reason.why);
  }
}

} // namespace dt::jobs::slurm
