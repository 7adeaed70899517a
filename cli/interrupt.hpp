// Ctrl-C while we only look on.
#pragma once

namespace dt::cli {

// While it lives, SIGINT and SIGTERM are noted instead of ending the process.
class Interrupt {
public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  // The signal that came, or 0.
  int signal() const;
  // Returns early when a signal comes.
  void sleep_s(double seconds) const;
  // Ends the process by the signal that came, as the shell expects of an interrupted program.
  [[noreturn]] void obey() const;
};

} // namespace dt::cli
