// The answer of `dtctl predict --metric time-to-target`: tables, the law of samples, and from where more nodes are not worth it.
#pragma once

#include "cli/command/context.hpp"
#include "cli/output/cell.hpp"
#include "recipes/reading/types.hpp"
#include "store/analysis/prediction/target_forecast.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct TargetAnswer {
  std::string series;
  store::SeriesTraits traits{}; // of the series that tells the throughput
  double target = 0;
  store::TargetForecast forecast{};
};

// "S0 = 21000 samples, twice as many at a batch of 145 [112, 190]", without a full stop; why there is no law where there is none.
std::string law_text(const store::TargetForecast& forecast);
// "from 4 nodes (a batch of 256) on, twice as many save less than a tenth of the time".
std::string worth_text(const store::TargetForecast& forecast, const store::SeriesTraits& traits);

// `price`: of a node-hour; `all_backtests`: also those of the samples.
void print_target_answers(Context& context, const std::vector<TargetAnswer>& answers, const std::optional<recipes::Price>& price,
                          bool all_backtests);

} // namespace dt::cli
