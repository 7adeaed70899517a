// OutputReader: finds the figures of a run in the lines that rank 0 prints (program.metrics), for a program that does not report
// by itself.
//
// All figures in one line belong together. A line with a loss, with samples or with the time of a step is a step. A line with an
// accuracy or a loss on the held-out set is an evaluation; the two may stand in two lines, as long as no step comes between them.
// A learning rate and an epoch that stand alone hold until the program prints others. Any other figure of a step that stands
// alone belongs to the next step.
#pragma once

#include "core/program/pattern.hpp"
#include "jobs/program/reports/rank_report.hpp"
#include "jobs/program/reports/step_numbers.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

// What the expression of one figure has found. Lines are numbered from 1.
struct MetricFinding {
  std::int64_t found = 0, refused = 0; // lines with a figure, and lines whose figure was left out
  std::int64_t first_line = 0, last_line = 0, first_refused_line = 0;
  double first = 0, last = 0;
  std::string refusal;   // why the first figure was left out, in a sentence; empty if none was
  std::string no_number; // a sentence about the first match that is no number at all; such lines count as lines without a match
};

// Of a line: its number, for findings (0: lines are counted), and when it was read, by a monotonic clock.
struct LinePlace {
  std::int64_t number = 0;
  double clock_s = not_measured;
};

class OutputReader {
 public:
  // The names are program_metric_names(). Throws a recipe error if an expression is wrong.
  explicit OutputReader(const std::map<std::string, std::string>& metrics);
  // Takes one line as it was printed.
  void take(const std::string& line, RankReport& report, LinePlace place = {});
  // Lines that nobody searches come next. What was found before holds no longer, and a figure that stood alone belongs to
  // nothing.
  void leave_out(RankReport& report);
  // The program has printed its last line. Adds what is doubtful about the figures to the report's caveats.
  void finish(RankReport& report);
  // The names of program.metrics that have found nothing of use.
  std::vector<std::string> missing() const;
  const MetricFinding& finding(const std::string& name) const { return metrics_.at(name).finding; }
  // The sentences about figures that were left out since the last call; one for each name in all.
  std::vector<std::string> new_refusals();
  // The sentences about how the numbers of the steps were understood, since the last call.
  std::vector<std::string> new_notes();
  // A sentence for each expression of which figures were left out.
  std::vector<std::string> left_out() const;
  // An accuracy was left out, so the last one, the best one and the first one at a target are not known.
  bool has_left_out_accuracy() const;
  std::int64_t lines() const { return lines_; }
  // The names that have found nothing since, although they should have by now: those of a step's own figures after the second
  // step; all of them if `is_late`. Each name comes once.
  std::vector<std::string> new_silent(bool is_late, const RankReport& report);
  // The names from new_silent() that have found their first figure since the last call.
  std::vector<std::string> new_found();
  // A sentence about such a name.
  std::string silence(const std::string& name) const;

 private:
  struct Metric {
    Pattern pattern;
    std::string text; // of the expression
    MetricFinding finding;
    bool was_silent = false;  // new_silent() has named it, and it has found nothing since
    bool is_known = false;    // new_silent() has named it
    bool is_per_step = false; // its unit is that of one step: s/it, it/s
  };
  using Figures = std::map<std::string, Reported>; // empty: it was left out
  bool reads(const std::string& name) const { return metrics_.contains(name); }
  double epoch() const { return held_.contains("epoch") ? or_not_measured(held_.at("epoch")) : not_measured; }
  static std::optional<Found> find(const std::string& name, const Pattern& pattern, const std::string& line);
  Figures figures_in(const std::string& line);
  bool is_told_again(const Figures& figures) const;
  bool is_no_step(const Figures& figures);
  void end_evaluation(RankReport& report);
  std::string settle_samples(RankReport& report) const;
  Reported judged(const std::string& name, Metric& metric, const Found& found, const std::string& line);
  void keep_for_later(const Figures& figures, bool is_whole);
  void take_step(const Figures& figures, RankReport& report);
  void take_evaluation(const Figures& figures, RankReport& report);
  bool is_whole(const EvaluationLine& evaluation) const;

  std::map<std::string, Metric> metrics_; // by name
  std::int64_t lines_ = 0, line_ = 0;     // line_: number of the line that is looked at
  double clock_s_ = not_measured;         // when it was read
  std::string last_line_;
  std::vector<std::string> new_refusals_;
  Figures held_; // learning rate and epoch, as last printed
  Figures next_; // figures that stood alone, of the next step
  StepNumbers numbers_;
  std::optional<std::int64_t> of_; // behind the number of the step in this line
  Figures last_step_;              // of the last line with a numbered step
  double epoch_of_last_ = not_measured;
  std::int64_t numbered_lines_ = 0, lines_without_number_ = 0, unnumbered_steps_ = 0;
  std::optional<EvaluationLine> open_; // an evaluation of which a figure may still come
};

} // namespace dt::jobs
