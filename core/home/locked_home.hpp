// A home that this process alone changes.
//
// The order of locks: first this one, then a data set's journal or import (never waited for), then the queue of the local
// scheduler, then the database's writer.
#pragma once

#include "core/files/file.hpp"
#include "core/home/home.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dt {

// Every verb that adds, changes or removes runs or studies, and `data remove`, holds the home's lock from its first look at them
// until the database has what it did. `data import` holds it only while it gives the copy its name, `data make` and `data pack`
// do not hold it; a submission asks under the lock whether its data sets are still there. Functions that need the lock take a
// LockedHome instead of a Home. Jobs and readers hold no lock.
class LockedHome : public Home {
 public:
  // "process 4711 on login1"
  using Waiting = std::function<void(const std::string& holder)>;

  // Makes the home if it is missing, and waits until no other process holds its lock. If that takes longer than two seconds,
  // `waiting` is called once, in another thread. The process must not hold the lock already.
  explicit LockedHome(const Home& home, const Waiting& waiting = {});
  // For what changes only what is there: throws a usage error if there is no home. A home that is made at the place from which
  // one was moved would keep the supervisor from leaving its link there (jobs/local/supervisor.cpp).
  static LockedHome existing(const Home& home, const Waiting& waiting = {});
  // Makes no file: returns nothing if the lock was never made, or another process holds it.
  static std::optional<LockedHome> try_lock(const Home& home);
  // Whether a process holds the lock now.
  static bool is_locked(const Home& home);

 private:
  LockedHome(const Home& home, FileLock lock);
  FileLock lock_;
};

} // namespace dt
