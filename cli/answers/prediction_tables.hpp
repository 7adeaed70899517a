// Tables about predictions: sizes, backtests, changes, scaling laws, and scores of stored predictions.
#pragma once

#include "cli/output/cell.hpp"
#include "store/analysis/prediction/baselines.hpp"
#include "store/analysis/prediction/forecast.hpp"
#include "store/analysis/prediction/target_forecast.hpp"
#include "store/analysis/prediction/what_if.hpp"
#include "store/query/prediction_query.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// A value with what it belongs to: the label of its series, empty if the study has one series without a label.
template<class Value> struct OfSeries {
  std::string series;
  Value value;
};

Table prediction_table(const std::vector<OfSeries<store::Prediction>>& predictions);
Table backtest_table(const std::vector<OfSeries<store::Backtest>>& backtests);
Table what_if_table(const std::vector<OfSeries<store::Gain>>& gains);

// The throughput that a fitted scaling law predicts for a size.
struct LawPoint {
  std::string law;
  std::int64_t size = 0;
  double throughput = 0;
};
Table law_table(const std::vector<OfSeries<LawPoint>>& points);

// The sizes that `dtctl predict --metric time-to-target` prints, with samples, throughput and time to the target.
Table target_table(const std::vector<OfSeries<store::TargetPrediction>>& predictions);
// Measured times to the target beside what the smaller sizes predict, and measured samples beside what the smaller batches
// predict.
Table target_backtest_table(const std::vector<OfSeries<store::TargetBacktest>>& backtests);
Table samples_backtest_table(const std::vector<OfSeries<store::SamplesBacktest>>& backtests);

Table score_table(const std::vector<store::ScoredPrediction>& predictions);

} // namespace dt::cli
