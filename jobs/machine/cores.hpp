// Locks on this machine's cores, shared by all local queues of a user: one lock file per core.
//
// The lock of a core belongs to an open file, which the job's processes inherit. A core is therefore taken exactly as long as its
// job lives, even if the supervisor dies, and becomes free when the last process ends. Jobs of other users are not taken into
// account. A lock file holds the folder of the attempt that took the core last, so that whoever waits can say for whom.
#pragma once

#include "core/files/file.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace dt::jobs {

// One logical processor (the first sibling) of each physical core in this process's affinity mask, ascending; of these the first
// that the CPU quota pays for, at least one. So jobs that run side by side do not spend more than the quota together.
std::vector<int> usable_cores();

// The cores among `wanted` that this machine allows a process to use.
std::vector<int> settable_cores(std::span<const int> wanted);

// Binds the calling process and its future children to these cores.
void bind_to(std::span<const int> cores);

struct TakenCores {
  std::vector<int> cores;
  std::vector<FileLock> locks; // closed on exec, unless the leader clears that flag
};

class CoreLocks {
 public:
  // Makes the folder, with access for this user only. Throws an environment error if it belongs to somebody else.
  explicit CoreLocks(std::filesystem::path folder);
  // For those who only look: makes nothing. Throws like the constructor if the folder is somebody else's.
  static CoreLocks existing(const std::filesystem::path& folder);
  // $DTCTL_CORE_LOCKS, else the first of these that belongs to nobody else: /run/lock/dtctl-<uid>, /run/user/<uid>/dtctl-cores,
  // /tmp/dtctl-<uid>/cores, and the folder dtctl-cores/<host> where the user's data lie.
  static std::filesystem::path default_folder();
  // "/run/lock/dtctl-1000 belongs to another user (uid 1001), so …": why an earlier one of them is not the default. Empty if
  // there is no such.
  static std::string avoided();

  // Takes `count` of the `allowed` cores for an attempt, or nothing. A caller that gets nothing holds the turn until a later call
  // succeeds or it drops the turn. Meanwhile nobody else can take cores, in whichever queue, so that no later job overtakes.
  std::optional<TakenCores> take(std::size_t count, std::span<const int> allowed, const std::filesystem::path& attempt);
  void drop_turn() { turn_.reset(); }

  // Attempts that run on cores, each with their number; of all queues of this user.
  std::map<std::filesystem::path, std::size_t> holders() const;
  // The attempt that has the turn, but waits for cores. Nothing if there is none, or if it has started or ended since.
  std::optional<std::filesystem::path> next_in_turn() const;

 private:
  enum class Makes { folder, nothing };
  CoreLocks(std::filesystem::path folder, Makes makes);
  std::filesystem::path folder_;
  std::optional<FileLock> turn_;
};

} // namespace dt::jobs
