// AttemptLog: writes dtjob's own lines into the stderr of an attempt. An error while it writes never ends the job.
#pragma once

#include "core/error.hpp"
#include "core/record/attempt_files.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace dt::jobs::agent {

class AttemptLog {
 public:
  explicit AttemptLog(const AttemptFolder& attempt) : attempt_(attempt) {}
  // The token of the job's submission. Each line ends with a mark made of it, by which last_words() recognises dtjob's lines
  // (launch/last_words.hpp).
  void set_token(const std::string& token) { token_ = token; }

  // A line for the attempt's stderr, or for this process's own if that is not possible. With the exit code of the job it tells
  // what ended the job.
  void say(const std::string& what, std::optional<int> code = {}) const;
  // A line about something that happened while the job went on. last_words() never takes it for the cause of the end.
  void note(const std::string& what) const { say("note: " + what); }

  // Calls `write`, and says why if it throws an error.
  template<class Write> void record(Write write) const
  {
    try {
      write();
    } catch (const Error& error) {
      say(error.what());
    }
  }
  // Writes a file (write_file_quick), and says why if that fails.
  void put(const std::filesystem::path& path, const std::string& text) const;

 private:
  const AttemptFolder& attempt_;
  std::string token_;
};

} // namespace dt::jobs::agent
