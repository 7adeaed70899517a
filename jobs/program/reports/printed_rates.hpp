// The throughput of a run from those that its program prints (program.metrics.throughput).
#pragma once

#include "core/spec/choices.hpp"
#include "jobs/program/reports/rank_report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dt::jobs {

struct RunRate {
  double value = not_measured;
  std::string words;               // how it comes from the printed ones; empty if none was printed
  std::vector<std::string> doubts; // sentences
};

// `is_behind_warm_up`: of an index of report.steps. The mean is that over time: a rate r stands for the n steps since the line
// with the rate before, which took n / r, so the mean is (sum of n) / (sum of n / r). If the lines say how many samples these
// steps had, n is that number. A rate in a line without a new step, such as that of an evaluation or of the whole training,
// counts only if there is no other.
RunRate rate_of_run(const RankReport& report, PrintedThroughput take, const std::function<bool(std::size_t)>& is_behind_warm_up);

} // namespace dt::jobs
