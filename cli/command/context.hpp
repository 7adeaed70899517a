// The objects that every verb gets.
#pragma once

#include "cli/output/output.hpp"
#include "cli/output/terminal.hpp"
#include "core/home/locked_home.hpp"

#include <memory>
#include <string>
#include <vector>

#include <spdlog/logger.h>

namespace dt::cli {

// Results go to `out`. Messages (progress, hints, warnings) go to `messages`, which writes to standard error.
struct Context {
  Output& out;
  spdlog::logger& messages;
  Terminal terminal;     // of standard output
  Terminal err_terminal; // of standard error
  bool json = false;
  // Error messages of schedulers that could not be reached. The output is then based on the files alone, and dtctl exits with
  // scheduler_unreachable.
  std::vector<std::string> troubles = {};
  // Runs whose files cannot be read, with the reason. Other runs are still shown, and dtctl exits with environment.
  std::vector<std::string> unreadable = {};
  // Adds troubles, and warns once about each.
  void note(const std::vector<std::string>& found);
  // Adds an unreadable run, and warns once about each.
  void note_unreadable(const std::string& run, const std::string& why);
  Home home() const { return Home::from_environment(); }
  // The home, which no other process changes meanwhile. Says on whom it waits. Must not be called while the result of an earlier
  // call exists. For verbs that change what is there; throws a usage error if there is no home.
  LockedHome locked_home() const { return LockedHome::existing(home(), waiting()); }
  // The same for verbs that add something: makes the home if it is missing.
  LockedHome made_home() const { return LockedHome(home(), waiting()); }

 private:
  LockedHome::Waiting waiting() const;
};

// Logger that writes "dtctl: …" and "dtctl: warning: …" to standard error; only warnings if `quiet`.
std::unique_ptr<spdlog::logger> make_messages(bool quiet, bool colour);

} // namespace dt::cli
