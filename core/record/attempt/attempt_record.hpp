// AttemptRecord: all records of an attempt's folder; AttemptReader: reads them, each file once. The judge (jobs) and the ingest
// (store) use the same reader.
#pragma once

#include "core/record/attempt/stop_reason.hpp"
#include "core/record/energy_record.hpp"
#include "core/record/load_record.hpp"
#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"

#include <bitset>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt {

// A member is empty if its file is missing, torn or of another format, or was not asked for.
struct AttemptRecord {
  int number = 0;
  std::optional<Submission> submission;
  std::optional<Deferral> deferral;
  bool has_owner = false; // a process has claimed the attempt
  std::optional<BeginRecord> begin;
  std::optional<Heartbeat> heartbeat;
  std::optional<RankError> error;
  bool has_result = false;         // result.json is whole and holds a result
  std::optional<RunResult> result; // the figures, if the reader keeps them
  std::string divergence;          // RunResult::divergence, also if it does not
  std::optional<int> fenced_by;    // the attempt that replaced this one
  std::vector<Launch> launches;    // launches of the ranks that have ended
  std::vector<Wish> wishes;        // what its scheduler was asked about the job
  std::optional<ProbeRecord> probe;
  std::optional<LoadRecord> load;
  std::optional<EnergyRecord> energy;
  std::optional<Preemption> preemption;
  std::optional<StallRecord> stall;
  bool requeue_asked = false; // the job asked the scheduler to start it again
  bool is_settled = false;    // the scheduler holds the job no more
  std::optional<JobEnd> end;
  std::optional<Cancellation> cancel; // also if the file's text is damaged: its presence counts
  std::optional<StopReason> stop_reason;
  std::optional<FailureCause> cause;
  std::vector<std::string> problems; // one sentence for each JSON record that exists but cannot be read
};

// Reads the files of one attempt. Lists the folder when it is made: most of the files are absent, and opening each of them would
// dominate the cost of the status of 10,000 runs.
class AttemptReader {
 public:
  // Whether `result` gets the figures or only `has_result` is set: the figures of thousands of runs would fill the memory.
  enum class Figures { kept, dropped };
  // Receives the text of each file, or a null pointer if there is no such file.
  using Observer = std::function<void(const std::string* text)>;

  // The folder may be missing: then no file is there. Throws a SystemError if it cannot be listed.
  explicit AttemptReader(AttemptFolder folder, Figures figures = Figures::kept);

  const AttemptFolder& folder() const { return folder_; }

  // Whether it is worth opening the file. Files can appear while a folder is listed: if the listing contains `end`, it may lack a
  // file that was written just before it. In that case the function returns true for every file.
  bool may_have(AttemptFile file) const;
  // Whether the file is there now, according to the listing and the file system.
  bool has(AttemptFile file) const;

  // Reads the files, in this order, into the record. Does nothing for a file that this reader has opened before, whatever was in
  // it. Accepts the files that AttemptRecord has members for. Throws an environment error if a file cannot be read: a SystemError
  // if the file system refuses, IrregularFile if it is a folder, a FIFO or a device.
  void read(std::span<const AttemptFile> files, AttemptRecord& record, const Observer& observer = {});

  // Finds files that were written since the last listing.
  void list_again();

 private:
  void read(AttemptFile file, AttemptRecord& record, const Observer& observer);

  AttemptFolder folder_;
  Figures figures_;
  std::vector<std::string> names_;
  bool has_ended_ = false; // the listing contains `end`
  std::bitset<attempt_file_count> opened_;
};

// The record of one attempt, with the files that are asked for.
AttemptRecord read_attempt(const AttemptFolder& folder, std::span<const AttemptFile> files);

} // namespace dt
