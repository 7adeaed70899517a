// dtctl predict: throughput, efficiency, time to the target and cost of sizes that were not measured.
#include "cli/answers/cost.hpp"
#include "cli/answers/grouped_texts.hpp"
#include "cli/answers/prediction_tables.hpp"
#include "cli/answers/target_output.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/number.hpp"
#include "core/record/prediction_record.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "store/analysis/verdict/point_labels.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct PredictOptions {
  std::string study = "last", nodes, ranks, profile, metric = "throughput", samples_from;
  std::vector<std::string> what_if;
  bool backtest = false, dry_run = false;
};

constexpr std::int64_t largest_size = 1'000'000;

// Reads "16,64,256" in ascending order. Throws a usage error for anything else.
std::vector<std::int64_t> parse_sizes(const std::string& option, const std::string& text)
{
  std::vector<std::int64_t> sizes;
  for (const auto& word : split(text, ',')) {
    const auto size = number_of<std::int64_t>(word).value_or(0);
    if (size < 1 || size > largest_size)
      throw Error(ErrorKind::usage, fmt::format("{} {}: \"{}\" is not a number from 1 to {}. Example: {} 16,64", option,
                                                printable(text), printable(word), largest_size, option));
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

struct Question {
  std::vector<std::int64_t> sizes; // empty: only backtests
  std::optional<store::SizeUnit> unit;
  std::vector<store::Change> changes;
  std::optional<CostModel> network;
  std::optional<recipes::Price> price;
};

Question question_of(Context& context, const PredictOptions& options)
{
  Question question;
  if (!options.nodes.empty() && !options.ranks.empty())
    throw Error(ErrorKind::usage, "--nodes and --ranks exclude each other: sizes are numbers of nodes or of ranks");
  const bool is_of_target = options.metric == name_of(Metric::time_to_target);
  if (!options.samples_from.empty() && !is_of_target)
    throw Error(ErrorKind::usage, "--samples-from names the study that tells the samples to the target, so it needs --metric "
                                  "time-to-target");
  if (!options.what_if.empty() && is_of_target)
    throw Error(ErrorKind::usage, "--what-if changes throughputs; leave out --metric time-to-target");
  if (options.nodes.empty() && options.ranks.empty() && !options.backtest && !is_of_target)
    throw Error(ErrorKind::usage, "predict needs the sizes to predict: --nodes 16,64 or, for a study on one node, --ranks 8,16; "
                                  "or --backtest to test the model on the measured sizes");
  if (!options.nodes.empty()) question.unit = store::SizeUnit::nodes;
  if (!options.ranks.empty()) question.unit = store::SizeUnit::ranks;
  if (question.unit)
    question.sizes =
        parse_sizes(options.nodes.empty() ? "--ranks" : "--nodes", options.nodes.empty() ? options.ranks : options.nodes);
  question.changes = store::parse_changes(options.what_if);
  if (!question.changes.empty() && question.sizes.empty())
    throw Error(ErrorKind::usage, "--what-if needs a size: give --nodes or --ranks too");
  question.network = network_of(context, options.profile);
  question.price = price_of(context, options.profile);
  return question;
}

// The answer for one series.
struct Answer {
  store::SeriesMeasurements measured;
  store::Forecast forecast;
};

// Series that cannot be predicted are left out with a warning. If none can, throws the first one's error.
std::vector<Answer> answers_to(Context& context, std::vector<store::SeriesMeasurements> all, const Question& question)
{
  std::vector<Answer> answers;
  std::vector<Error> refusals;
  if (all.empty()) all.emplace_back(); // forecast says what is missing
  for (auto& series : all) {
    try {
      auto forecast = store::forecast(series, question.sizes, question.network);
      answers.push_back({std::move(series), std::move(forecast)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      refusals.push_back(error);
    }
  }
  if (answers.empty()) throw refusals.front();
  for (const auto& refusal : refusals) context.messages.warn("{}", refusal.what());
  return answers;
}

// All values of one kind, each with the label of its series.
template<class Value, class ValuesOf> std::vector<OfSeries<Value>> collect(const std::vector<Answer>& answers, ValuesOf values_of)
{
  std::vector<OfSeries<Value>> all;
  for (const auto& answer : answers)
    for (auto& value : values_of(answer)) all.push_back({answer.measured.series, std::move(value)});
  return all;
}

std::vector<LawPoint> law_points(const Answer& answer)
{
  std::vector<LawPoint> points;
  for (const auto& law : store::fit_laws(answer.measured.sizes))
    for (const auto& prediction : answer.forecast.predictions)
      points.push_back({law.name, prediction.at.size, law.throughput(static_cast<double>(prediction.at.workers))});
  return points;
}

void print_what_if(Context& context, const std::vector<Answer>& answers, const Question& question)
{
  if (question.changes.empty()) return;
  context.out.heading(
      fmt::format("What if, at {} {}", question.sizes.back(), question.unit == store::SizeUnit::nodes ? "nodes" : "ranks"));
  context.out.table(without_empty_columns(what_if_table(collect<store::Gain>(answers, [&](const Answer& answer) {
    const auto& largest = answer.forecast.predictions.back();
    if (!largest.is_identified) return std::vector<store::Gain>();
    return store::gains(answer.forecast.calibration, largest.at, question.changes);
  }))));
}

void print_laws(Context& context, const std::vector<Answer>& answers)
{
  const auto points = collect<LawPoint>(answers, law_points);
  if (points.empty()) return;
  context.out.heading("Baselines: curves through the measured throughputs, for comparison only");
  context.out.table(without_empty_columns(law_table(points)));
}

void print_backtests(Context& context, const std::vector<Answer>& answers, bool all)
{
  context.out.heading("Backtests: measured sizes, predicted from the smaller ones");
  context.out.table(without_empty_columns(backtest_table(collect<store::Backtest>(answers, [&](const Answer& answer) {
    auto tests = answer.forecast.backtests;
    const auto largest = answer.measured.sizes.back().at.size;
    if (!all) std::erase_if(tests, [&](const auto& test) { return test.size != largest; });
    return tests;
  }))));
}

// "the latency of the network and the speed of additions".
std::string in_words(const std::vector<store::Parameter>& parameters)
{
  std::vector<std::string> words;
  for (const auto parameter : parameters) words.emplace_back(store::in_words(parameter));
  return join(words, " and ");
}

// A text for each thing that is different at the predicted size than at the measured ones, and one that names the parameters
// which the measured sizes do not determine.
std::vector<std::string> changes_of(const store::SeriesTraits& traits, const store::Prediction& prediction)
{
  std::vector<std::string> texts;
  for (const auto& change : prediction.changes) texts.push_back(change.text);
  if (prediction.open.empty()) return texts;
  texts.push_back("the measured sizes leave open " + in_words(prediction.open));
  if (prediction.measure < prediction.at.size)
    texts.back() += fmt::format("; a measurement of {} would tell", store::in_units(traits, prediction.measure));
  return texts;
}

// Sentences about series under the same heading.
class SeriesTexts {
 public:
  explicit SeriesTexts(const std::vector<Answer>& answers)
  {
    for (const auto& answer : answers) series_.push_back(answer.measured.series);
    const store::PointLabels shown(series_);
    for (const auto& series : series_) labels_.push_back(shown.shown(series));
  }
  void add(const std::string& heading, std::size_t series, std::string text)
  {
    auto found = std::find_if(texts_.begin(), texts_.end(), [&](const auto& texts) { return texts.first == heading; });
    if (found == texts_.end()) found = texts_.insert(texts_.end(), {heading, {}});
    found->second.push_back({labels_[series], std::move(text)});
  }
  void print(Context& context) const
  {
    for (const auto& [heading, texts] : texts_)
      for (const auto& line : grouped_texts(texts, labels_)) context.out.field("", heading, text_cell(line));
  }

 private:
  std::vector<std::string> series_, labels_;
  std::vector<std::pair<std::string, std::vector<LabelledText>>> texts_; // by heading, in their order
};

void print_changes(Context& context, const std::vector<Answer>& answers)
{
  SeriesTexts texts(answers);
  Json list = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (const auto& prediction : answers[i].forecast.predictions) {
      const auto& measured = answers[i].measured;
      for (auto& text : changes_of(measured.traits, prediction))
        texts.add(store::in_units(measured.traits, prediction.at.size), i, std::move(text));
      for (const auto& change : prediction.changes)
        list.push_back({{"series", measured.series},
                        {"size", prediction.at.size},
                        {"change", store::name_of(change.kind)},
                        {"certain", change.is_certain},
                        {"text", change.text}});
    }
  texts.print(context);
  context.out.data("changes", std::move(list));
}

void print_assumptions(Context& context, const std::vector<Answer>& answers)
{
  SeriesTexts texts(answers);
  Json list = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const auto& sentence : answers[i].forecast.calibration.assumptions) {
      list.push_back({{"series", answers[i].measured.series}, {"assumption", sentence}});
      texts.add("assumes", i, sentence);
    }
    for (const auto& test : answers[i].forecast.backtests)
      if (test.borrowed_link)
        texts.add("backtest", i,
                  fmt::format("Size {} was predicted with a network fitted to its own times of communication alone, because no "
                              "smaller size has any.",
                              test.size));
  }
  texts.print(context);
  context.out.data("assumptions", std::move(list));
}

std::string names_of(const std::vector<store::SizeChange>& changes)
{
  std::vector<std::string> names;
  for (const auto& change : changes) names.emplace_back(store::name_of(change.kind));
  return join(names, ",");
}

PredictionRecord prediction_record_of(const store::StudyRow& study, const Answer& answer, const store::Prediction& prediction)
{
  const auto& traits = answer.measured.traits;
  const auto if_identified = [&](double figure) { return prediction.is_identified ? figure : not_measured; };
  PredictionRecord record{.study = study.id,
                          .recipe = study.name,
                          .series = answer.measured.series,
                          .strategy = traits.strategy,
                          .model = traits.model,
                          .nodes = prediction.at.nodes,
                          .ranks = prediction.at.ranks,
                          .global_batch = prediction.at.batch * static_cast<double>(prediction.at.workers),
                          .predicted_unix_s = now_unix_s(),
                          .largest_size = answer.measured.sizes.back().at.size,
                          .backtests = static_cast<std::int64_t>(answer.forecast.backtests.size()),
                          .level = store::forecast_level,
                          .throughput = if_identified(prediction.throughput),
                          .throughput_low = prediction.throughput_interval.low,
                          .throughput_high = prediction.throughput_interval.high,
                          .efficiency = if_identified(prediction.efficiency),
                          .efficiency_low = prediction.efficiency_interval.low,
                          .efficiency_high = prediction.efficiency_interval.high,
                          .time_s = if_identified(prediction.time_s),
                          .node_hours = if_identified(prediction.node_hours),
                          .extrapolation = store::is_extrapolation(prediction.changes),
                          .changes = names_of(prediction.changes),
                          .unidentified = !prediction.is_identified,
                          .measure = prediction.measure};
  record.id = prediction_id(record);
  return record;
}

bool was_measured(const store::SeriesMeasurements& series, std::int64_t size)
{
  return std::any_of(series.sizes.begin(), series.sizes.end(), [&](const auto& known) { return known.at.size == size; });
}

// A size that has run already is no prediction, so it is not stored.
void store_predictions(ResultsStore& results, const store::StudyRow& study, const std::vector<Answer>& answers)
{
  for (const auto& answer : answers)
    for (const auto& prediction : answer.forecast.predictions)
      if (!was_measured(answer.measured, prediction.at.size))
        write_prediction(results.home(), prediction_record_of(study, answer, prediction));
  results.take_in_predictions();
}

void print_answers(Context& context, const std::vector<Answer>& answers, const Question& question, bool all_backtests)
{
  if (!question.sizes.empty())
    context.out.table(without_empty_columns(with_cost(
        prediction_table(collect<store::Prediction>(answers, [](const Answer& answer) { return answer.forecast.predictions; })),
        question.price)));
  print_changes(context, answers);
  print_backtests(context, answers, all_backtests);
  print_what_if(context, answers, question);
  print_laws(context, answers);
  print_assumptions(context, answers);
}

Selection selected_study(ResultsStore& results, const std::string& name)
{
  Selector selector;
  selector.what = name;
  auto selection = select(results, selector);
  if (!selection.study)
    throw Error(ErrorKind::usage, "predict needs a study; " + printable(name) + " is not one. See: dtctl status --all");
  return selection;
}

// The series that tells the samples of another one: of the same label, or the only one of the same strategy. Null: none.
const store::TargetSeries* samples_of(const std::vector<store::TargetSeries>& targets, const store::SeriesMeasurements& speed)
{
  const auto same = std::ranges::find(targets, speed.series, &store::TargetSeries::series);
  if (same != targets.end()) return &*same;
  return targets.size() == 1 ? &targets.front() : nullptr;
}

// Without sizes: the measured ones, and twice and four times the largest.
std::vector<std::int64_t> target_sizes(const store::SeriesMeasurements& speed, const Question& question)
{
  std::vector<std::int64_t> sizes;
  for (const auto& size : speed.sizes) sizes.push_back(size.at.size);
  if (!question.sizes.empty())
    sizes.insert(sizes.end(), question.sizes.begin(), question.sizes.end());
  else if (sizes.size() > 1)
    for (const std::int64_t factor : {2, 4}) sizes.push_back(factor * speed.sizes.back().at.size);
  std::ranges::sort(sizes);
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  return sizes;
}

// `speeds`: of the study that tells the throughput, which also tells the samples unless another study does.
ExitCode predict_target(Context& context, ResultsStore& results, const PredictOptions& options, const Selection& selection,
                        std::vector<store::SeriesMeasurements> speeds, const Question& question)
{
  const auto source = options.samples_from.empty() ? selection : selected_study(results, options.samples_from);
  auto targets = store::target_series(store::figures_in_studies(results.database(), rows_of(source.runs)));
  for (auto& target : targets) target.tells_time = source.study->id == selection.study->id;
  if (targets.empty())
    throw Error(ErrorKind::usage,
                fmt::format("no series of study {} has runs with one target of which it is known when it was reached. "
                            "Give the recipe a train.target_accuracy, and run it",
                            source.study->name));
  std::vector<TargetAnswer> answers;
  std::vector<Error> refusals;
  for (auto& speed : speeds) {
    const auto* target = samples_of(targets, speed);
    try {
      if (target == nullptr)
        throw Error(ErrorKind::usage, fmt::format("study {} has no runs with a target of {}", source.study->name,
                                                  speed.series.empty() ? "this series" : speed.series));
      auto forecast = store::forecast_target(speed, *target, target_sizes(speed, question), question.network);
      answers.push_back({speed.series, speed.traits, target->target, std::move(forecast)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      refusals.push_back(error);
    }
  }
  if (answers.empty() && !refusals.empty()) throw refusals.front();
  if (answers.empty()) throw Error(ErrorKind::usage, "no run of the study has a throughput and the times of its ranks");
  for (const auto& refusal : refusals) context.messages.warn("{}", refusal.what());
  print_target_answers(context, answers, question.price, options.backtest);
  return ExitCode::ok;
}

ExitCode predict(Context& context, const PredictOptions& options)
{
  ResultsStore results(context);
  const auto selection = selected_study(results, options.study);
  const auto question = question_of(context, options);
  const auto& study = *selection.study;
  context.out.field("study", "study",
                    {study.id, fmt::format("{} ({}), {}", study.name, short_key(study.id), study.kind), Style::strong});
  for (const auto& point : store::scaling_of_study(results.database(), study.id))
    if (point.copies > 0) context.messages.warn("{}", point.why_copies);
  auto series = store::measurements_of_study(results.database(), study.id, question.unit);
  if (options.metric == name_of(Metric::time_to_target))
    return predict_target(context, results, options, selection, std::move(series), question);
  const auto answers = answers_to(context, std::move(series), question);
  print_answers(context, answers, question, options.backtest);
  if (!options.dry_run) store_predictions(results, study, answers);
  return ExitCode::ok;
}

} // namespace

void add_predict(Commands& commands)
{
  auto options = std::make_shared<PredictOptions>();
  auto& verb = commands.add(
      {"predict", understand_verbs, "Predict throughput, efficiency and cost of a study at larger sizes.",
       "How it predicts:\n"
       "  computation  each worker with the scatter that was measured; the slowest one ends the step\n"
       "  network      fitted to the runs, or the `network:` block of a profile (dtbench comm prints one)\n"
       "  servers      a queue\n"
       "  interval     should contain the measured value in 80 % of all cases; it holds the scatter of the runs and\n"
       "               the errors of backtests, in which the largest size is predicted from the smaller ones\n"
       "\"not identifiable from these sizes\": the runs allow too different predictions; measure the size it names.\n"
       "dtctl results --predictions compares stored predictions with the sizes that have run since.\n"
       "--metric time-to-target: the samples until train.target_accuracy at the batch of a size, by S0 (1 + B / Bc) fitted to\n"
       "the measured batches (each tuned: study.tune), over the throughput at the size.\n"
       "\n"
       "Examples:\n"
       "  dtctl predict quickstart --ranks 4,8\n"
       "  dtctl predict tuned --metric time-to-target --nodes 8,16\n"
       "  dtctl predict study --nodes 16,64 --what-if all --profile cluster"},
      [options](Context& context) { return predict(context, *options); });
  verb.add_option("STUDY", options->study, "last (default: the newest study), or the name or id of a study")->type_name("STUDY");
  verb.add_option("--nodes", options->nodes, "numbers of nodes to predict, such as 16,64,256")->type_name("N,N,...");
  verb.add_option("--ranks", options->ranks, "numbers of ranks to predict, for studies on one node")->type_name("N,N,...");
  verb.add_option("--metric", options->metric, "what to predict")
      ->type_name("METRIC")
      ->one_of({std::string(name_of(Metric::throughput)), std::string(name_of(Metric::time_to_target))});
  verb.add_option("--samples-from", options->samples_from,
                  "with --metric time-to-target: the study that tells the samples, such as a measured one for a simulated STUDY")
      ->type_name("STUDY");
  verb.add_list(
          "--what-if", options->what_if,
          "also predict the largest size with a change: bandwidth=2x, latency=0, jitter=0, overlap=perfect, input=0, or all; "
          "may be a list")
      ->type_name("CHANGE");
  verb.add_flag("--backtest", options->backtest, "print the backtest of every measured size, not only of the largest");
  verb.add_option("--profile", options->profile,
                  "machine profile with the network and the cost of a node-hour; default: the profile `default`")
      ->type_name("NAME");
  verb.add_flag("-n,--dry-run", options->dry_run, "print the predictions and do not store them");
}

} // namespace dt::cli
