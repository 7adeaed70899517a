// What every verb is given.
#pragma once

#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "core/paths.hpp"

#include <memory>
#include <string>
#include <vector>

#include <spdlog/logger.h>

namespace dt::cli {

// Results go to `out`, messages (what is going on, what to do next) to `messages`, which writes to standard error.
struct Context {
  Output& out;
  spdlog::logger& messages;
  Terminal terminal;     // of standard output
  Terminal err_terminal; // of standard error
  bool json = false;
  // Schedulers that could not be asked, in their words. What is shown then comes from the files alone, and dtctl ends with
  // scheduler_unreachable.
  std::vector<std::string> troubles = {};
  // Runs whose files cannot be read, and why. Others are shown, and dtctl ends with environment.
  std::vector<std::string> unreadable = {};
  // Warns of each trouble once.
  void note(const std::vector<std::string>& found);
  // Warns of each run once.
  void note_unreadable(const std::string& run, const std::string& why);
  Home home() const { return Home::from_environment(); }
};

// "dtctl: …", "dtctl: warning: …" on standard error; only warnings when `quiet`.
std::unique_ptr<spdlog::logger> make_messages(bool quiet, bool colour);

} // namespace dt::cli
