#include "jobs/machine/cores.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::jobs {
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

constexpr const char* turn_name = "turn";
constexpr const char* core_prefix = "core-";

// Who holds the lock is for people only, so a full disk does not matter.
void write_holder(const FileLock& lock, const fs::path& attempt)
{
  const auto& text = attempt.native();
  if (::ftruncate(lock.descriptor(), 0) != 0) return;
  [[maybe_unused]] const auto written = ::pwrite(lock.descriptor(), text.data(), text.size(), 0);
}

// The attempt that took this lock last: <home>/runs/<key>/attempts/<number>.
std::optional<AttemptFolder> read_holder(const fs::path& lock)
{
  const fs::path path = read_file_if_exists(lock).value_or("");
  if (!path.is_absolute()) return std::nullopt;
  const AttemptFolder attempt(path);
  return attempt.number() > 0 ? std::optional(attempt) : std::nullopt;
}

} // namespace

std::vector<int> usable_cores()
{
  std::vector<int> cores;
  std::vector<std::string> seen;
  const auto allowance = cpu_allowance();
  for (const int processor : allowance.cores) {
    auto group = siblings(processor);
    if (std::find(seen.begin(), seen.end(), group) != seen.end()) continue;
    seen.push_back(std::move(group));
    cores.push_back(processor);
  }
  cores.resize(std::min(cores.size(), allowance.whole_cores()));
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

namespace {

std::vector<fs::path> usual_folders()
{
  const auto user = std::to_string(::geteuid());
  std::vector<fs::path> folders;
  if (::access("/run/lock", W_OK) == 0 || ::access(("/run/lock/dtctl-" + user).c_str(), F_OK) == 0)
    folders.push_back("/run/lock/dtctl-" + user);
  if (::access(("/run/user/" + user).c_str(), W_OK) == 0) folders.push_back("/run/user/" + user + "/dtctl-cores");
  folders.push_back("/tmp/dtctl-" + user + "/cores");
  folders.push_back(user_data_folder() / "dtctl-cores" / host_name());
  return folders;
}

// "PATH belongs to another user (uid 1001)" of the folder or the one around it, if dtctl would make that too. Empty if neither is
// another user's.
std::string foreign_part(const fs::path& folder)
{
  for (const auto& part : {folder.parent_path(), folder}) {
    struct stat facts {};
    if (::lstat(part.c_str(), &facts) != 0 || (facts.st_uid == ::geteuid() && S_ISDIR(facts.st_mode))) continue;
    if (part != folder && (facts.st_uid == 0 || S_ISLNK(facts.st_mode))) continue; // of the system: /run/lock is a link on some
    return fmt::format("{} {}", part.string(),
                       S_ISDIR(facts.st_mode) ? fmt::format("belongs to another user (uid {})", facts.st_uid) : "is no folder");
  }
  return {};
}

} // namespace

CoreLocks::CoreLocks(fs::path folder) : CoreLocks(std::move(folder), Makes::folder) {}

CoreLocks CoreLocks::existing(const fs::path& folder) { return {folder, Makes::nothing}; }

CoreLocks::CoreLocks(fs::path folder, Makes makes) : folder_(std::move(folder))
{
  struct stat status {};
  if (makes == Makes::folder) {
    make_folders(folder_.parent_path());
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw system_error("make folder " + folder_.string(), errno);
  } else if (!is_there(folder_)) {
    return;
  }
  if (::lstat(folder_.c_str(), &status) != 0) throw system_error("look at " + folder_.string(), errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
    throw Error(ErrorKind::environment, folder_.string() + " does not belong to you, so dtctl cannot assign cores safely; "
                                                           "remove it, or set DTCTL_CORE_LOCKS to another folder.");
}

fs::path CoreLocks::default_folder()
{
  if (const char* named = std::getenv("DTCTL_CORE_LOCKS"); named != nullptr && named[0] != '\0') return fs::absolute(named);
  const auto folders = usual_folders();
  const auto own = std::find_if(folders.begin(), folders.end(), [](const auto& one) { return foreign_part(one).empty(); });
  return own == folders.end() ? folders.front() : *own;
}

std::string CoreLocks::avoided()
{
  const auto taken = default_folder();
  for (const auto& folder : usual_folders()) {
    if (folder == taken) return {};
    if (const auto why = foreign_part(folder); !why.empty())
      return fmt::format("{}, so the locks of cores are in {}", why, taken.string());
  }
  return {};
}

std::optional<TakenCores> CoreLocks::take(std::size_t count, std::span<const int> allowed, const fs::path& attempt)
{
  if (!turn_) turn_ = FileLock::try_acquire(folder_ / turn_name);
  if (!turn_) return std::nullopt;
  write_holder(*turn_, attempt);
  TakenCores taken;
  for (std::size_t i = 0; i < allowed.size() && taken.cores.size() < count; ++i) {
    auto lock = FileLock::try_acquire(folder_ / (core_prefix + std::to_string(allowed[i])));
    if (!lock) continue;
    taken.cores.push_back(allowed[i]);
    taken.locks.push_back(std::move(*lock));
  }
  if (taken.cores.size() < count) return std::nullopt;
  for (const auto& lock : taken.locks) write_holder(lock, attempt);
  drop_turn();
  return taken;
}

std::map<fs::path, std::size_t> CoreLocks::holders() const
{
  std::map<fs::path, std::size_t> holders;
  for (const auto& name : names_in(folder_)) {
    if (!name.starts_with(core_prefix)) continue;
    const auto attempt = read_holder(folder_ / name);
    if (attempt && state_of(*attempt, read_owner(*attempt)) == OwnerState::alive) ++holders[attempt->path()];
  }
  return holders;
}

std::optional<fs::path> CoreLocks::next_in_turn() const
{
  const auto attempt = read_holder(folder_ / turn_name);
  if (!attempt || !is_there(attempt->path()) || read_owner(*attempt)) return std::nullopt;
  return attempt->path();
}

} // namespace dt::jobs
