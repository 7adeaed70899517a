// This machine's cores, shared by all local queues of a user: one locked file a core.
//
// The lock of a core is held by open file, which the job's processes inherit: a core stays taken exactly as long as its job
// lives, whatever happens to the supervisor, and is free again without anybody's doing when the job is gone. Jobs of other
// users are not seen.
#pragma once

#include "core/file.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace dt::jobs::local {

// Cores of this process's mask, one logical processor a physical core (the first of its siblings), ascending.
std::vector<int> usable_cores();

// Of `wanted`, the cores this machine would let a process run on.
std::vector<int> settable_cores(std::span<const int> wanted);

// Gives the calling process and its future children these cores.
void bind_to(std::span<const int> cores);

struct TakenCores {
  std::vector<int> cores;
  std::vector<FileLock> locks; // closed on exec unless the leader clears that
};

class CoreLocks {
 public:
  // Makes the folder, for this user alone. An environment error when it belongs to somebody else.
  explicit CoreLocks(std::filesystem::path folder);
  // $DTCTL_CORE_LOCKS, else /run/lock/dtctl-<uid>, else /tmp/dtctl-<uid>/cores.
  static std::filesystem::path default_folder();

  // `count` of the `allowed` cores, all or none. Who asks and gets none keeps the turn until it asks again and gets them, or
  // drops it: nobody else's later job overtakes, whichever queue it is in.
  std::optional<TakenCores> take(std::size_t count, std::span<const int> allowed);
  void drop_turn() { turn_.reset(); }

 private:
  std::filesystem::path folder_;
  std::optional<FileLock> turn_;
};

} // namespace dt::jobs::local
