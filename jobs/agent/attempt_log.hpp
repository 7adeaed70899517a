// What dtjob says and notes about an attempt. Nothing here keeps the job from ending.
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
  // Of the job's submission: marks the lines as dtjob's own (launch/last_words.hpp).
  void set_token(const std::string& token) { token_ = token; }

  // A line for the attempt's stderr, or for this process's own if that is not possible. With the exit code of the job it tells
  // what ended the job.
  void say(const std::string& what, std::optional<int> code = {}) const;
  // What happened on the way, which is no cause of the end.
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
  // A file without sync.
  void put(const std::filesystem::path& path, const std::string& text) const;

 private:
  const AttemptFolder& attempt_;
  std::string token_;
};

} // namespace dt::jobs::agent
