// Reads a run's folder for the ingest. The database part is in rows.hpp.
#pragma once

#include "core/error.hpp"
#include "core/record/load_record.hpp"
#include "core/record/run_record.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// A run's folder cannot be read. That affects this run only, while a database error affects all runs. All functions here throw
// it.
class FolderError : public Error {
 public:
  explicit FolderError(const std::string& message, bool is_whole = false)
      : Error(ErrorKind::environment, message), may_be_whole_(is_whole)
  {
  }
  // True if the file system refused or failed: the files may be intact. False if the files were read and are damaged.
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
  std::optional<int> fenced_by; // the attempt that replaced it
  std::int64_t launches = 0;    // number of launches of the ranks that have ended
  std::filesystem::path events; // path only; the file is read separately in pieces, because it can be large
};

struct RunFacts {
  PlannedRun planned;
  std::vector<AttemptFacts> attempts; // ascending by number
  std::vector<std::string> problems;  // one sentence for each record that exists but cannot be read
};

// Reads the spec and the attempts with numbers up to `last_attempt`. The spec must exist and have this key.
RunFacts read_run_folder(const std::filesystem::path& run_folder, const std::string& key, int last_attempt);

// Hash of the records of these attempts and of the sizes of their event logs.
std::string fingerprint_of(const std::filesystem::path& run_folder, int last_attempt);

// Size of a file in bytes; -1 if it does not exist.
std::int64_t size_of(const std::filesystem::path& file);

// Passes the complete lines of a file, from byte `offset` on, to `take`, a few MiB at a time. Returns the offset after the last
// complete line. Does nothing if the file does not exist.
std::int64_t read_lines_from(const std::filesystem::path& file, std::int64_t offset,
                             const std::function<void(std::string_view)>& take);

} // namespace dt::store
