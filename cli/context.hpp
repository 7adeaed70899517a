// What every verb is given.
#pragma once

#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "core/paths.hpp"

#include <memory>
#include <string>

#include <spdlog/logger.h>

namespace dt::cli {

// Results go to `out`, messages (what is going on, what to do next) to `messages`, which writes to standard error.
struct Context {
  Output& out;
  spdlog::logger& messages;
  Terminal terminal;     // of standard output
  Terminal err_terminal; // of standard error
  bool json = false;
  Home home() const { return Home::from_environment(); }
};

// "dtctl: …", "dtctl: warning: …" on standard error; only warnings when `quiet`.
std::unique_ptr<spdlog::logger> make_messages(bool quiet, bool colour);

} // namespace dt::cli
