// Reads a run's folder for the ingest. The database part is in rows.hpp.
#pragma once

#include "core/error.hpp"
#include "core/record/attempt/attempt_record.hpp"

#include <filesystem>
#include <functional>
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

// The records of a run's attempts, from one reading of its files.
struct RunRecords {
  std::vector<AttemptRecord> attempts; // ascending by number
  std::string fingerprint;             // hash of the texts of the files that were read, and of the sizes of the event logs
};

// Reads the attempts with numbers up to `last_attempt`.
RunRecords read_attempts(const std::filesystem::path& run_folder, int last_attempt);

// Reads the spec, which must exist and have this key.
PlannedRun read_spec(const std::filesystem::path& run_folder, const std::string& key);

// Size of a file in bytes; -1 if it does not exist.
std::int64_t size_of(const std::filesystem::path& file);

// Passes the complete lines of a file, from byte `offset` on, to `take`, a few MiB at a time. Returns the offset after the last
// complete line. Does nothing if the file does not exist.
std::int64_t read_lines_from(const std::filesystem::path& file, std::int64_t offset,
                             const std::function<void(std::string_view)>& take);

} // namespace dt::store
