// OutputReader: finds the figures of a run in the lines that rank 0 prints (program.metrics), for a program that does not report
// by itself.
#pragma once

#include "core/program/pattern.hpp"
#include "jobs/program/measurement.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dt::jobs {

class OutputReader {
 public:
  // The names are program_metric_names(). Throws a recipe error if an expression is wrong.
  explicit OutputReader(const std::map<std::string, std::string>& metrics);
  // Takes one line. All figures in a line belong together. A line with a loss, with samples or with the time of a step is a step;
  // a line with an accuracy is an evaluation.
  void take(const std::string& line, RankReport& report);
  // The names of program.metrics that no line has matched.
  std::vector<std::string> missing() const;

 private:
  using Figures = std::map<std::string, double>;
  void take_step(const Figures& figures, RankReport& report);
  static void take_evaluation(const Figures& figures, RankReport& report);

  std::map<std::string, Pattern> patterns_;
  std::set<std::string> seen_;
};

} // namespace dt::jobs
