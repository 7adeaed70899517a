#include "jobs/local/cores.hpp"

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::jobs::local {
namespace {

namespace fs = std::filesystem;

cpu_set_t set_of(std::span<const int> cores)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  return set;
}

// The logical processors of the same physical core, in the kernel's notation: "0,64" or "0-1".
std::string siblings(int processor)
{
  const auto path = "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list";
  return std::string(trim(read_file_if_exists(path).value_or(std::to_string(processor))));
}

} // namespace

std::vector<int> usable_cores()
{
  std::vector<int> cores;
  std::vector<std::string> seen;
  for (const int processor : cores_in_mask()) {
    auto group = siblings(processor);
    if (std::find(seen.begin(), seen.end(), group) != seen.end()) continue;
    seen.push_back(std::move(group));
    cores.push_back(processor);
  }
  return cores;
}

std::vector<int> settable_cores(std::span<const int> wanted)
{
  const auto before = cores_in_mask();
  const auto set = set_of(wanted);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return {};
  auto settable = cores_in_mask();
  bind_to(before);
  return settable;
}

void bind_to(std::span<const int> cores)
{
  const auto set = set_of(cores);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) throw system_error("set the cores of the job", errno);
}

CoreLocks::CoreLocks(fs::path folder) : folder_(std::move(folder))
{
  make_folders(folder_.parent_path());
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw system_error("make folder " + folder_.string(), errno);
  struct stat status {};
  if (::lstat(folder_.c_str(), &status) != 0) throw system_error("look at " + folder_.string(), errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
    throw Error(ErrorKind::environment, folder_.string() + " does not belong to you, so dtctl cannot assign cores safely; "
                                                           "remove it, or set DTCTL_CORE_LOCKS to another folder.");
}

fs::path CoreLocks::default_folder()
{
  if (const char* named = std::getenv("DTCTL_CORE_LOCKS"); named != nullptr && named[0] != '\0') return fs::absolute(named);
  const auto user = "dtctl-" + std::to_string(::geteuid());
  if (::access("/run/lock", W_OK) == 0) return fs::path("/run/lock") / user;
  return fs::path("/tmp") / user / "cores";
}

std::optional<TakenCores> CoreLocks::take(std::size_t count, std::span<const int> allowed)
{
  if (!turn_) turn_ = FileLock::try_acquire(folder_ / "turn");
  if (!turn_) return std::nullopt;
  TakenCores taken;
  for (std::size_t i = 0; i < allowed.size() && taken.cores.size() < count; ++i) {
    auto lock = FileLock::try_acquire(folder_ / ("core-" + std::to_string(allowed[i])));
    if (!lock) continue;
    taken.cores.push_back(allowed[i]);
    taken.locks.push_back(std::move(*lock));
  }
  if (taken.cores.size() < count) return std::nullopt;
  drop_turn();
  return taken;
}

} // namespace dt::jobs::local
