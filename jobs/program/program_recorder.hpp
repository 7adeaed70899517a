// ProgramRecorder: the records of an attempt of the user's own program. dtengine writes them itself; here dtjob writes them, from
// what the ranks report (report_lines.hpp) or print (program.metrics).
//
//   prepare → for each launch: begin_launch, look about four times a second → conclude
#pragma once

#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"
#include "jobs/program/measurement.hpp"
#include "jobs/program/output_reader.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

class ProgramRecorder {
 public:
  ProgramRecorder(const AttemptFolder& attempt, PlannedRun run);

  // Checks that the program and its data set still have the content of the run's key, and makes the folder in which the ranks
  // run. Throws an error that is the cause of the run's failure.
  void prepare();
  // Removes what an earlier launch has left.
  void begin_launch();
  // Takes over what rank 0 has reported since the last call: events.log, heartbeat, begin.json, stall.json.
  void look();
  // Whether the program was started on every rank. Another launch would then end in the same way.
  bool has_started() const { return started_.size() == ranks(); }
  // Looks for ranks that were started since the last look. Returns has_started().
  bool look_for_ranks();
  // Whether the program was started on all ranks of this host and has ended on all of them. False if no rank runs here.
  bool has_ended_here() const;
  // Whether a later attempt has taken this one's place.
  bool is_fenced() const;

  struct End {
    int code = 0;
    std::string why; // one sentence if there is no result although the exit code was 0, or a result although it was not
  };
  // After the ranks have ended with this exit code: reads all reports, and writes error.json or the result. A result needs both:
  // that rank 0 reported it, and the exit code 0.
  End conclude(int code);

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t ranks() const { return static_cast<std::size_t>(run_.spec.ranks()); }
  std::filesystem::path report_of(std::size_t rank) const;
  void require_same_content() const;
  void find_started();
  void write_begin();
  void read_root();
  void read_output(bool is_complete);
  void append_events();
  void beat();
  void watch_progress();
  std::vector<MissingRank> behind() const;
  RankReport report_of_other(std::size_t rank) const;
  std::string missing_evidence() const;
  std::string write_error(const std::vector<RankReport>& reports) const;
  void say(const std::string& what) const;

  AttemptFolder attempt_;
  PlannedRun run_;
  // Of this launch.
  struct Stream {
    LineTail tail;
    std::filesystem::path copy_to;
  };
  std::map<std::size_t, RankLine> started_; // by rank
  std::unique_ptr<LineTail> root_tail_;
  std::vector<Stream> output_; // with program.metrics
  std::optional<OutputReader> reader_;
  RankReport root_;
  std::size_t steps_written_ = 0, evaluations_written_ = 0; // to events.log
  double training_s_ = 0;                                   // sum of the steps that were written
  bool has_begun_ = false;                                  // begin.json is there
  Clock::time_point beaten_{}, looked_for_ranks_{}, advanced_{};
  std::size_t advances_ = 0;
  std::optional<StallRecord> stall_;
};

} // namespace dt::jobs
