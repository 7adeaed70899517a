// What a run's folder says, read at once: the side of ingest that sees files.
#pragma once

#include "core/error.hpp"
#include "core/load_record.hpp"
#include "core/run_record.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// A run's folder cannot be read: that run's problem, while a failing database is everybody's. All functions here throw it.
class FolderError : public Error {
 public:
  explicit FolderError(const std::string& message, bool is_whole = false)
      : Error(ErrorKind::environment, message), may_be_whole_(is_whole)
  {
  }
  // The file system refused or failed, so nothing is known about the files; otherwise they were read and are damaged.
  bool may_be_whole() const { return may_be_whole_; }

 private:
  bool may_be_whole_;
};

struct AttemptFacts {
  int number = 0;
  std::optional<Submission> submission;
  std::optional<BeginRecord> begin;
  std::optional<JobEnd> end;
  std::optional<RankError> error;
  std::optional<RunResult> result;
  std::optional<Preemption> preemption;
  std::optional<ProbeRecord> probe;
  std::optional<LoadRecord> load;
  std::optional<int> fenced_by; // the attempt that took its place
  std::int64_t launches = 0;    // of the ranks that have ended
  std::filesystem::path events; // read apart, piece by piece: it may be large
};

struct RunFacts {
  PlannedRun planned;
  std::vector<AttemptFacts> attempts; // ascending
  std::vector<std::string> problems;  // records that are there and cannot be read, one sentence each
};

// The spec and the attempts up to and with number `last_attempt`; the spec must be there and be of the run with this key.
RunFacts read_run_folder(const std::filesystem::path& run_folder, const std::string& key, int last_attempt);

// Equal as long as those attempts' records are: their contents, and the sizes of their event logs.
std::string fingerprint_of(const std::filesystem::path& run_folder, int last_attempt);

// -1 when there is no such file.
std::int64_t size_of(const std::filesystem::path& file);

// Gives the whole lines of a file from byte `offset` on, a few MiB at a time; returns the offset behind the last whole line.
// Nothing happens when there is no file.
std::int64_t read_lines_from(const std::filesystem::path& file, std::int64_t offset,
                             const std::function<void(std::string_view)>& take);

} // namespace dt::store
