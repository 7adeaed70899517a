#include "cli/answers/target_output.hpp"

#include "cli/answers/cost.hpp"
#include "cli/answers/grouped_texts.hpp"
#include "cli/answers/prediction_tables.hpp"
#include "cli/output/number_text.hpp"
#include "core/text.hpp"
#include "store/analysis/prediction/size_changes.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using State = store::SamplesLaw::State;

template<class Value, class ValuesOf>
std::vector<OfSeries<Value>> collect(const std::vector<TargetAnswer>& answers, ValuesOf values_of)
{
  std::vector<OfSeries<Value>> all;
  for (const auto& answer : answers)
    for (const auto& value : values_of(answer)) all.push_back({answer.series, value});
  return all;
}

std::string batch_text(double batch) { return std::isfinite(batch) ? fmt::format("{:.0f}", batch) : "any"; }

std::string critical_text(const store::SamplesLaw& law)
{
  const auto& [low, high] = law.critical_batch_interval;
  if (!std::isfinite(law.critical_batch))
    return fmt::format("no more with larger batches, up to a batch of {} at least", batch_text(low));
  if (!std::isfinite(high))
    return fmt::format("twice as many at a batch of {} [{} or more]", batch_text(law.critical_batch), batch_text(low));
  return fmt::format("twice as many at a batch of {} [{}, {}]", batch_text(law.critical_batch), batch_text(low),
                     batch_text(high));
}

// Prints one line for each different text, with the series that it is about.
void print_lines(Context& context, const std::string& heading, const std::vector<TargetAnswer>& answers,
                 std::string (*text_of)(const TargetAnswer&))
{
  std::vector<std::string> series, labels;
  for (const auto& answer : answers) series.push_back(answer.series);
  const store::PointLabels shown(series);
  std::vector<LabelledText> texts;
  for (const auto& answer : answers) {
    labels.push_back(shown.shown(answer.series));
    texts.push_back({labels.back(), text_of(answer)});
  }
  for (const auto& line : grouped_texts(texts, labels)) context.out.field("", heading, text_cell(line));
}

Json law_json(const TargetAnswer& answer)
{
  const auto& law = answer.forecast.law;
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  return {{"series", answer.series},
          {"fits", answer.forecast.has_law && law.state == State::fits},
          {"samples_with_small_batches", finite(law.samples0)},
          {"critical_batch", finite(law.critical_batch)},
          {"critical_batch_low", finite(law.critical_batch_interval.low)},
          {"critical_batch_high", finite(law.critical_batch_interval.high)},
          {"text", law_text(answer.forecast)}};
}

Json worth_json(const TargetAnswer& answer)
{
  const auto& worth = answer.forecast.worth;
  const bool is_found = worth.state == store::Worth::State::found;
  return {{"series", answer.series},
          {"size", is_found ? Json(worth.size) : Json()},
          {"batch", is_found ? Json(worth.batch) : Json()},
          {"text", worth_text(answer.forecast, answer.traits)}};
}

} // namespace

std::string law_text(const store::TargetForecast& forecast)
{
  const auto& law = forecast.law;
  std::string missed;
  for (const auto batch : law.missed) missed += (missed.empty() ? "" : ", ") + batch_text(batch);
  if (!missed.empty()) missed = fmt::format("; runs with a batch of {} missed the target and do not count", missed);
  if (!forecast.has_law) return "known at the measured sizes only, because strategies of this kind have no law" + missed;
  switch (law.state) {
  case State::fits:
    return fmt::format("{} samples with very small batches, {}{}", two_digits(law.samples0), critical_text(law), missed);
  case State::one_batch:
    return fmt::format("known at a batch of {} only; other batches need a second one that was measured{}",
                       batch_text(law.known.front().batch), missed);
  case State::contradicted:
    return "the measured batches contradict S0 (1 + B / Bc), so nothing is predicted from it: was each batch tuned (study.tune), "
           "and "
           "do its runs have more than one seed?" +
           missed;
  case State::no_runs:
    break;
  }
  return "not known: no batch of which all runs reached the target" + missed;
}

std::string worth_text(const store::TargetForecast& forecast, const store::SeriesTraits& traits)
{
  const auto& worth = forecast.worth;
  const auto size = fmt::format("{} (a batch of {})", store::in_units(traits, worth.size), batch_text(worth.batch));
  const auto unit = traits.by_nodes ? "nodes" : "ranks";
  switch (worth.state) {
  case store::Worth::State::found:
    return fmt::format("beyond {}, twice as many {} save less than a tenth of the time", size, unit);
  case store::Worth::State::farther:
    return fmt::format("up to {}, twice as many {} save a tenth of the time or more", size, unit);
  case store::Worth::State::not_known:
    break;
  }
  return fmt::format("beyond {} these sizes do not tell; measure {}", size, store::in_units(traits, 2 * worth.size));
}

void print_target_answers(Context& context, const std::vector<TargetAnswer>& answers, const std::optional<recipes::Price>& price,
                          bool all_backtests)
{
  const auto first_target = answers.front().target;
  if (std::ranges::all_of(answers, [&](const auto& answer) { return answer.target == first_target; }))
    context.out.field("target_accuracy", "target", {first_target, fmt::format("an accuracy of {:.4g} %", first_target * 100)});
  context.out.table(without_empty_columns(with_cost(
      target_table(collect<store::TargetPrediction>(answers, [](const auto& answer) { return answer.forecast.predictions; })),
      price)));
  print_lines(context, "samples", answers, [](const auto& answer) { return law_text(answer.forecast); });
  print_lines(context, "worth it", answers, [](const auto& answer) { return worth_text(answer.forecast, answer.traits); });
  Json laws = Json::array(), worths = Json::array();
  for (const auto& answer : answers) {
    laws.push_back(law_json(answer));
    worths.push_back(worth_json(answer));
  }
  context.out.data("samples_laws", std::move(laws));
  context.out.data("worth", std::move(worths));
  context.out.heading("Backtests: measured times to the target, predicted from the smaller sizes");
  context.out.table(without_empty_columns(target_backtest_table(
      collect<store::TargetBacktest>(answers, [](const auto& answer) { return answer.forecast.backtests; }))));
  if (!all_backtests) return;
  context.out.heading("Backtests of the samples: measured batches, predicted from the smaller ones");
  context.out.table(without_empty_columns(samples_backtest_table(
      collect<store::SamplesBacktest>(answers, [](const auto& answer) { return answer.forecast.law.backtests; }))));
}

} // namespace dt::cli
