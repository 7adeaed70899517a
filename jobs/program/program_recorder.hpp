// ProgramRecorder: the records of an attempt of the user's own program. dtengine writes them itself; here dtjob writes them, from
// what the ranks report (report_lines.hpp) or print (program.metrics).
//
//   prepare → for each launch: begin_launch, look about four times a second → conclude
#pragma once

#include "core/record/attempt/attempt_writer.hpp"
#include "core/record/rank_state.hpp"
#include "jobs/program/load_watch.hpp"
#include "jobs/program/rank_channels.hpp"
#include "jobs/program/reports/departures.hpp"
#include "jobs/program/reports/measurement.hpp"
#include "jobs/program/reports/output_reader.hpp"
#include "jobs/program/reports/pending_text.hpp"
#include "jobs/program/reports/report_lines.hpp"

#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dt::jobs {

class ProgramRecorder {
 public:
  // `token` is the job's.
  ProgramRecorder(const AttemptFolder& attempt, PlannedRun run, std::string token);

  // Checks that the program and its data set still have the content of the run's key, and makes the folder in which the ranks
  // run. Throws an error that is the cause of the run's failure.
  void prepare();
  // Removes what an earlier launch has left.
  void begin_launch();
  // Takes over what rank 0 has reported since the last call: events.log, heartbeat, begin.json, stall.json. Throws if a record
  // cannot be read or written now, after all others were; the next call then goes on where this one stopped.
  void look();
  // Whether more was reported or printed than the last look() has read: it reads for a tenth of a second at most.
  bool is_behind() const { return is_behind_; }
  // After the end of the ranks, before conclude(): reads on for a tenth of a second what they have left. Returns whether there is
  // more.
  bool read_on();
  // Whether the program was started on every rank. Another launch would then end in the same way.
  bool has_started() const { return started_.size() == ranks(); }
  // Looks for ranks that were started since the last look. Returns has_started().
  bool look_for_ranks();
  // Whether the program was started on all ranks of this host and has ended on all of them. False if no rank runs here.
  bool has_ended_here() const;
  // That a rank has left without a result and others wait for it (Departures::cause); else empty.
  std::string left_alone(bool is_at_limit) const { return departures_ ? departures_->cause(is_at_limit) : std::string(); }
  // The run is ended for that reason: an open stall is none of its own.
  void close_stall();
  // AttemptWriter::refusal(): why nothing more is recorded, because a later attempt has taken this one's place. Empty otherwise.
  const std::string& refusal() { return writer_->refusal(); }

  struct End {
    int code = 0;
    std::string why; // one sentence if there is no result although the exit code was 0, or a result although it was not
  };
  // After the ranks have ended with this exit code: reads all reports, and writes error.json or the result. Of an output that was
  // not searched yet it searches the last MiB, where the final figures stand; the rest is only kept in the log. A result needs
  // all of these: that rank 0 reported it, that no rank reported an error, the exit code 0, and that every record was written. An
  // error that was reported after `told_to_stop_unix_s` is not the cause of the run's end.
  End conclude(int code, double told_to_stop_unix_s = std::numeric_limits<double>::infinity());

 private:
  using Clock = std::chrono::steady_clock;

  // An output of rank 0.
  struct Stream {
    Stream(std::filesystem::path from, std::filesystem::path to) : tail(std::move(from)), copy(std::move(to)) {}
    FileTail tail;
    LineCutter lines{LineCutter::Ends::line_feed_or_carriage_return};
    PendingText copy;
    bool ends_line = true; // what was read so far ends in a line feed
  };

  std::size_t ranks() const { return static_cast<std::size_t>(run_.spec.ranks()); }
  void require_same_content() const;
  void find_started();
  BeginRecord begin_record() const;
  void write_begin();
  void read_root(Clock::time_point until);
  void begin_again();
  void read_output(Clock::time_point until);
  void read_block(Stream& stream);
  void leave_out_middle();
  void end_output(bool is_whole);
  void tell_of_metrics();
  void tell_of_silence();
  void write_records();
  std::string write_last_records(bool has_ended_well);
  End outcome(int code, double told_to_stop_unix_s, const std::string& trouble);
  void append_events();
  void pass_time(double clock_s, double step_s);
  void watch_loss(const StepLine& step);
  void tell_gap(const RankReport::Gap& gap);
  void tell_divergence(const RunResult& result);
  void watch_progress();
  void watch_load();
  void watch_channels();
  std::string write_load();
  void add_doubt_of_exchange(std::vector<RankReport>& reports);
  void write_profile(std::span<const RankReport> reports) const;
  std::vector<MissingRank> behind() const;
  RankReport report_of_other(std::size_t rank) const;
  bool has_result() const;
  std::string missing_evidence() const;
  RankError blamed(const RankReport& report) const;
  std::string write_error(std::span<const RankReport> reports, double told_to_stop_unix_s);
  // Adds a line to log_. A note is not the cause of a run's end (last_words.hpp).
  void say(const std::string& what);

  AttemptFolder attempt_;
  PlannedRun run_;
  std::string token_;
  PendingText log_; // messages for the user, in the attempt's stderr
  // Of this launch.
  std::map<std::size_t, RankLine> started_; // by rank
  // The facts about its node that each rank has reported: by rank, a text for each name. Only rank 0 and the first rank of each
  // node report.
  std::map<std::size_t, std::map<std::string, std::string>> facts_;
  std::unique_ptr<LineTail> root_tail_;
  std::vector<Stream> output_; // with program.metrics
  std::optional<OutputReader> reader_;
  RankReport root_;
  std::optional<AttemptWriter> writer_;
  std::size_t steps_written_ = 0, evaluations_written_ = 0; // to events.log
  double last_epoch_ = not_measured;
  Divergence divergence_;                         // of rank 0
  int told_turns_ = 0;                            // of its loss
  int restarts_ = 0;                              // of its process by the program's launcher
  double training_s_ = 0;                         // sum of the steps that were written
  std::optional<Clock::time_point> root_started_; // when rank 0 was seen to have started
  Clock::time_point looked_for_ranks_{}, advanced_{};
  std::size_t advances_ = 0;
  std::optional<StallRecord> stall_; // the last one, also when the program has gone on since
  bool is_behind_ = false;
  bool is_stall_written_ = false, has_told_of_long_line_ = false;
  std::vector<std::size_t> here_; // the ranks on this host, whose load is watched
  std::optional<LoadWatch> load_;
  std::optional<RankChannels> channels_; // of the same ranks
  std::optional<Departures> departures_;
};

} // namespace dt::jobs
