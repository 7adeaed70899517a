// Locks on this machine's cores, shared by all local queues of a user: one lock file per core.
//
// The lock of a core belongs to an open file, which the job's processes inherit. A core is therefore taken exactly as long as its
// job lives, even if the supervisor dies, and becomes free when the last process ends. Jobs of other users are not taken into
// account.
#pragma once

#include "core/file.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace dt::jobs::local {

// One logical processor (the first sibling) of each physical core in this process's affinity mask, ascending.
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
  // $DTCTL_CORE_LOCKS, else /run/lock/dtctl-<uid>, else /tmp/dtctl-<uid>/cores.
  static std::filesystem::path default_folder();

  // Takes `count` of the `allowed` cores, or nothing. A caller that gets nothing holds the turn until a later call succeeds or it
  // drops the turn. Meanwhile nobody else can take cores, in whichever queue, so that no later job overtakes.
  std::optional<TakenCores> take(std::size_t count, std::span<const int> allowed);
  void drop_turn() { turn_.reset(); }

 private:
  std::filesystem::path folder_;
  std::optional<FileLock> turn_;
};

} // namespace dt::jobs::local
