// The file reports/rank-R of an attempt of the user's own program: what this rank has reported, a line per call of its module
// (share/dtctl/program).
//
//   report     = { fact } rank { worker | begin | pause | step | evaluation | exchange | memory | error | result }
//   fact       = "fact" SP name SP text LF                              of rank 0 and of the first rank on every node: what the
//                                                                       program depends on there (core/program/environment.hpp)
//   rank       = "rank" SP rank SP pid SP host SP cores SP gpus LF      "-": none
//   worker     = "worker" SP pid SP ranks SP restarts LF                 program.launch per-node: the rank's process, which the
//                                                                       program's launcher has started; ranks: of all nodes, as
//                                                                       the launcher says; restarts: how often it has started the
//                                                                       ranks again
//   begin      = "begin" SP clock SP step LF                            steps that were done before, by an earlier attempt
//   step       = "step" SP step SP clock SP step_s SP samples SP loss SP learning_rate SP epoch
//                SP input_s SP forward_s SP backward_s SP communication_s SP optimizer_s LF
//   pause      = "pause" SP loader_s SP checkpoint_s SP other_s LF       of the next step: its time between two epochs
//   evaluation = "eval" SP step SP clock SP eval_s SP accuracy SP loss SP samples LF
//   exchange   = "exchange" SP word LF                                  how the process exchanges anything with other ranks; the
//                                                                       words are those of Exchange, and the last one counts
//   memory     = "memory" SP bytes LF                                   largest resident set so far
//   error      = "error" SP step SP unix_s SP text LF                    unix_s: seconds since 1970, to compare ranks
//   result     = "result" SP clock SP parameters LF
//
// A program that trains with dtctl_sync adds, through the library (engine/bindings/report.hpp):
//
//   sync       = "sync" SP ( "worker" | "server" ) SP steps LF          at its start; steps from one meeting of all workers to
//   the
//                                                                       next, 0: they never meet
//   traffic    = "traffic" SP bytes SP messages LF                      sent by this rank in the measured steps
//   staleness  = "staleness" SP age SP updates LF                       updates of this age that this rank has logged
//   bucket     = "bucket" SP bytes SP ready_s SP lead_s LF              rank 0, in the order of the sums
//   isolated   = "isolated" SP seconds LF                               rank 0: a step's communication with nothing beside it
//   noise      = "noise" SP value SP low SP high LF                     rank 0: gradient noise scale, in a worker's batches
//   choice     = "choice" SP name TAB text LF                           rank 0: what the strategy chose
//   caveat     = "caveat" SP kind TAB sentence LF                       what limits the measurement (caveats.hpp)
//   weights    = "weights" SP hash LF                                   rank 0: of the final weights
//
// The observer of a PyTorch program (share/dtctl/program/dtctl_observe) writes begin, step, evaluation, bucket and result as
// well, the line choice with the name "observed", and on rank 0 before the result
//
//   flops      = "flops" SP per_sample SP precision SP matmul SP device LF   RunFlops; precision and device "-": not known
//   gradient   = "gradient" SP bytes SP lead_s SP name LF               in the order of their readiness; lead_s: until the end of
//                                                                       the step's backward pass
//
// What precedes a line "worker" with more restarts is of a training that was given up. dtjob writes the facts and the line "rank"
// before the program starts; where the program's launcher starts the ranks, the line "rank" of each has the process of the
// launcher. A last line without LF is torn and not read.
// Numbers are decimal; "-" stands for what the program does not report. A loss, an accuracy or a learning rate may also be "NaN",
// "inf" or "-inf". clock: seconds of a monotonic
// clock, whose zero has no meaning. step_s: seconds since the last begin, step or evaluation.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/event_record.hpp"
#include "core/record/run_record.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dt::jobs {

struct RankLine {
  int rank = 0, pid = 0;
  std::string host, cores, gpus; // gpus: "-" if the rank has none
};
struct FactLine {
  std::string name, text; // without blanks; without line feeds
};
struct WorkerLine {
  int pid = 0, ranks = 0, restarts = 0;
};
struct BeginLine {
  double clock_s = 0;
  std::int64_t step = 0;
};
// not_measured: a time or a count that is not reported. In a line it cannot be NaN.
struct StepLine {
  std::int64_t step = 0;
  double clock_s = 0, step_s = 0, samples = 0;
  Reported loss, learning_rate;
  double epoch = 0;
  std::array<double, phase_count> phase_s{}; // evaluation: 0
  BetweenEpochs between{0, 0, 0};
};
struct PauseLine {
  BetweenEpochs between;
};
struct EvaluationLine {
  std::int64_t step = 0;
  double clock_s = 0, eval_s = 0;
  Reported accuracy, loss;
  double samples = 0;
};
enum class Exchange {
  none,      // nothing in the process can exchange with other ranks
  unknown,   // it has connections, or memory that it shares, of which nobody knows what for
  idle,      // a process group of several ranks, by which no gradients are summed
  gradients, // gradients are summed, and nothing that a loss depends on is exchanged before the backward pass
  some,      // anything else
};
struct ExchangeLine {
  Exchange seen = Exchange::unknown;
};
struct MemoryLine {
  double bytes = 0;
};
struct ErrorLine {
  std::int64_t step = -1;
  double unix_s = 0;
  std::string cause;
};
struct ResultLine {
  double clock_s = 0, parameters = 0;
};
struct SyncLine {
  bool is_server = false;
  std::int64_t between_meetings = 1;
};
struct TrafficLine {
  std::int64_t bytes = 0, messages = 0;
};
struct StalenessLine {
  std::int64_t age = 0, updates = 0;
};
struct IsolatedLine {
  double seconds = 0;
};
struct NoiseLine {
  NoiseScale in_batches; // of one worker
};
struct ChoiceLine {
  std::string name, text;
};
struct CaveatLine {
  std::string kind, sentence;
};
struct GradientLine {
  std::int64_t bytes = 0;
  double lead_s = 0;
  std::string name;
};
struct WeightsLine {
  std::string hash;
};
struct FlopsLine {
  RunFlops flops;
};

// monostate: the line is damaged, or an impossible value stands in it: a time or a number of samples that is negative, NaN or
// infinite, or an accuracy that is neither NaN nor between 0 and 1.
using ReportLine =
    std::variant<std::monostate, RankLine, FactLine, BeginLine, StepLine, PauseLine, EvaluationLine, MemoryLine, ErrorLine,
                 ResultLine, SyncLine, TrafficLine, StalenessLine, BucketRecord, IsolatedLine, NoiseLine, ChoiceLine, CaveatLine,
                 GradientLine, WeightsLine, WorkerLine, FlopsLine, ExchangeLine>;
ReportLine parse_report_line(std::string_view line);

std::string to_line(const RankLine& line);
std::string to_line(const FactLine& line);
std::string to_line(const ErrorLine& line);

// Reads what was appended to a file since the last call.
class FileTail {
 public:
  explicit FileTail(std::filesystem::path path) : path_(std::move(path)) {}
  // Empty if there is nothing new or no file. Throws a SystemError if nothing could be read; the next call goes on there.
  std::string next();
  // The same, but at most 256 KiB: for a caller that has other things to do meanwhile.
  std::string next_block();
  // Whether the last block ended before the end of the file.
  bool has_more() const { return has_more_; }
  // Bytes that were not read yet.
  std::int64_t left() const;

 private:
  std::filesystem::path path_;
  std::int64_t offset_ = 0; // of the first byte that was not read
  bool has_more_ = false;
};

// Cuts a text that comes in pieces into lines. Of a line of more than 64 KiB it keeps the beginning, without a
// number at its end.
class LineCutter {
 public:
  enum class Ends { line_feed, line_feed_or_carriage_return }; // progress bars end their lines with carriage returns
  explicit LineCutter(Ends ends = Ends::line_feed) : ends_(ends) {}
  // The lines that the piece completes, without their ends; with carriage returns, empty lines are left out. With `is_last`, also
  // what comes after the last end.
  std::vector<std::string> take(std::string_view piece, bool is_last = false);
  // Leaves out what was taken of the last line, this piece, and what comes of a line that it does not end.
  void leave_out(std::string_view piece);
  // Lines of which only the beginning was kept.
  std::int64_t cut_lines() const { return cut_lines_; }

 private:
  void end_line(std::vector<std::string>& lines);
  std::string_view ends() const { return ends_ == Ends::line_feed ? "\n" : "\n\r"; }

  Ends ends_;
  std::string rest_;                          // of the last line, which has no end yet
  bool is_cut_ = false, is_left_out_ = false; // that line
  std::int64_t cut_lines_ = 0;
};

// Reads the complete lines that were appended to a file since the last call, without their line feeds.
class LineTail {
 public:
  explicit LineTail(std::filesystem::path path) : tail_(std::move(path)) {}
  std::vector<std::string> next() { return cutter_.take(tail_.next()); }
  std::vector<std::string> next_block() { return cutter_.take(tail_.next_block()); }
  bool has_more() const { return tail_.has_more(); }

 private:
  FileTail tail_;
  LineCutter cutter_;
};

// The report of a rank.
std::filesystem::path report_file(const AttemptFolder& attempt, std::size_t rank);
// The same for all ranks of a launcher, in DTCTL_REPORT: the modules in share/dtctl/program put the variable RANK in place of the
// last word.
std::string report_of_each_rank(const AttemptFolder& attempt);

// Where a rank runs, and the facts that precede this line in its report.
struct StartedRank {
  RankLine line;
  std::map<std::string, std::string> facts; // by name
};
// Nothing if the program was not started there yet.
std::optional<StartedRank> started_rank(const AttemptFolder& attempt, std::size_t rank);

} // namespace dt::jobs
