// Handles Ctrl-C while dtctl only watches.
#pragma once

namespace dt::cli {

// During the lifetime of this object, SIGINT and SIGTERM are recorded instead of ending the process.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  // The received signal, or 0.
  int signal() const;
  // Returns early if a signal arrives.
  void sleep_s(double seconds) const;
  // Ends the process by the received signal, as the shell expects of an interrupted program.
  [[noreturn]] void obey() const;
};

} // namespace dt::cli
