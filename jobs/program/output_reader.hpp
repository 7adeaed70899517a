// OutputReader: finds the figures of a run in the lines that rank 0 prints (program.metrics), for a program that does not report
// by itself.
//
// All figures in one line belong together. A line with a loss, with samples or with the time of a step is a step. A line with an
// accuracy or a loss on the held-out set is an evaluation; the two may stand in two lines, as long as no step comes between them.
// A learning rate and an epoch that stand alone hold until the program prints others. Any other figure of a step that stands
// alone belongs to the next step.
#pragma once

#include "core/program/pattern.hpp"
#include "jobs/program/rank_report.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dt::jobs {

class OutputReader {
 public:
  // The names are program_metric_names(). Throws a recipe error if an expression is wrong.
  explicit OutputReader(const std::map<std::string, std::string>& metrics);
  // Takes one line.
  void take(const std::string& line, RankReport& report);
  // The program has printed its last line.
  void finish(RankReport& report);
  // The names of program.metrics that have found nothing of use.
  std::vector<std::string> missing() const;
  // The first impossible value that this expression has found, in a sentence; empty if it has found none.
  std::string refusal(const std::string& name) const;
  // The sentences about impossible values that were found since the last call.
  std::vector<std::string> new_refusals();

 private:
  using Figures = std::map<std::string, double>;
  Figures figures_in(const std::string& line);
  void keep_for_later(const Figures& figures, bool is_whole);
  void take_step(const Figures& figures, RankReport& report);
  void take_evaluation(const Figures& figures, RankReport& report);
  bool is_whole(const EvaluationLine& evaluation) const;

  std::map<std::string, Pattern> patterns_;
  std::set<std::string> seen_;
  std::map<std::string, std::string> refusals_; // by name
  std::vector<std::string> new_refusals_;
  Figures held_;                       // learning rate and epoch, as last printed
  Figures next_;                       // figures that stood alone, of the next step
  std::optional<EvaluationLine> open_; // an evaluation of which a figure may still come
};

} // namespace dt::jobs
