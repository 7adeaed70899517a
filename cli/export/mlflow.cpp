// The format mlflow: what is sent of each run. The experiment is the study. Tags of the run on the server say what it holds
// already, so an export that is repeated, or that follows one that broke off, adds only what is new:
//
//   dtctl.key              the run's key, by which it is found again
//   dtctl.first_attempt    the attempt with which its training began; a training that began anew is another run
//   dtctl.exported_steps   the last step whose metrics were sent, written with these metrics in one call
//   dtctl.exported_evals   the step of the last evaluation that was sent
//   dtctl.exported_result  attempt and time of the result that was sent
#include "cli/export/curve.hpp"
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "cli/export/mlflow_server.hpp"
#include "cli/output/store_tables.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/record/fields.hpp"
#include "core/record/run_state.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr const char* key_tag = "dtctl.key";
constexpr const char* first_attempt_tag = "dtctl.first_attempt";
constexpr const char* steps_tag = "dtctl.exported_steps";
constexpr const char* evals_tag = "dtctl.exported_evals";
constexpr const char* result_tag = "dtctl.exported_result";

std::int64_t milliseconds(double unix_s) { return std::isfinite(unix_s) ? static_cast<std::int64_t>(unix_s * 1000) : 0; }

// The state of MLflow that corresponds to this state of a run. Empty if the run's state is unknown.
std::string status_of(const std::string& state)
{
  switch (run_state_of(state).value_or(RunState::unknown)) {
  case RunState::planned:
  case RunState::submitted:
  case RunState::queued:
    return "SCHEDULED";
  case RunState::running:
  case RunState::suspended:
    return "RUNNING";
  case RunState::succeeded:
    return "FINISHED";
  case RunState::failed:
  case RunState::timed_out:
  case RunState::lost:
    return "FAILED";
  case RunState::cancelled:
  case RunState::preempted:
    return "KILLED";
  case RunState::unknown:
    break;
  }
  return {};
}

// Variables and set-up lines of a job stay here: they may hold more secrets than dtctl can recognise.
bool is_sent(const Key& key)
{
  static const std::set<std::string_view> kept{"name", "description", "resources.env", "resources.setup",
                                               "resources.setup_before"};
  return key.field != nullptr && !key.path.starts_with("study.") && !kept.contains(key.path);
}

void add_param(TextMap& params, const std::string& name, const std::string& value)
{
  if (!value.empty()) params[name] = clipped(value, longest_param);
}

// The keys of the recipe that have a value.
TextMap params_of(const FlatRows& rows, std::size_t row)
{
  TextMap params;
  for (const auto& key : spec_keys()) {
    if (!is_sent(key)) continue;
    std::string path(key.path), column = path;
    std::replace(column.begin(), column.end(), '.', '_');
    if (rows.has_column(column)) add_param(params, path, rows.text(row, column));
  }
  for (const auto* column : {"repeat", "ranks", "workers", "global_batch", "engine_build", "data_id"})
    add_param(params, column, rows.text(row, column));
  return params;
}

// Those without a value are sent only if the run has one from an earlier export: the cause of a failure that is past, for
// example.
TextMap tags_of(const FlatRows& rows, std::size_t row, const MlflowRun& run)
{
  TextMap tags;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty() || run.tags.contains(name)) tags[name] = clipped(value, longest_tag);
  };
  for (const auto* column : {"study", "label", "state", "cause", "attempt", "job_id", "host", "diverged_step"})
    add(std::string("dtctl.") + column, rows.text(row, column));
  add("dtctl.study_id", rows.text(row, "study_key"));
  return tags;
}

// The figures of the result. A figure that was not measured is not among them.
Batch result_of(const FlatRows& rows, std::size_t row)
{
  Batch batch;
  const double finished_unix_s = rows.number(row, "finished_unix_s"), steps = rows.number(row, "steps");
  if (std::isnan(finished_unix_s) || std::isnan(steps)) return batch;
  for (const auto& field : result_fields()) {
    const double value = rows.has_column(field.column()) ? rows.number(row, field.column()) : std::nan("");
    if (std::isfinite(value) && field.column() != "finished_unix_s")
      batch.add_metric("result/" + field.column(), value, milliseconds(finished_unix_s), static_cast<std::int64_t>(steps));
  }
  batch.tags[result_tag] = fmt::format("attempt {} at {}", rows.text(row, "attempt"), rows.text(row, "finished_unix_s"));
  return batch;
}

std::int64_t number_in(const TextMap& tags, const char* name)
{
  const auto found = tags.find(name);
  return found == tags.end() ? -1 : leading_number<std::int64_t>(found->second).value_or(-1);
}

// A run on the server that has no step yet may be of any training.
bool is_same_training(const MlflowRun& run, const std::string& first_attempt)
{
  const auto begun = run.tags.find(first_attempt_tag);
  return first_attempt == "0" || begun == run.tags.end() || begun->second == "0" || begun->second == first_attempt;
}

class MlflowExport {
 public:
  MlflowExport(ResultsStore& results, const std::string& url) : results_(results), server_(url) {}
  void add(const FlatRows& rows, std::size_t row);
  void report(Context& context) const;

 private:
  MlflowRun find_or_create(const FlatRows& rows, std::size_t row, const store::Course& course);
  void send_texts(const MlflowRun& run, const TextMap& params, const TextMap& tags) const;
  void send_curve(MlflowRun& run, const std::vector<CurvePoint>& points, const std::string& first_attempt);
  void send_result(const MlflowRun& run, const Batch& result);
  void send(const MlflowRun& run, const Batch& batch);

  ResultsStore& results_;
  MlflowServer server_;
  std::int64_t runs_ = 0, new_runs_ = 0, metrics_ = 0;
};

MlflowRun MlflowExport::find_or_create(const FlatRows& rows, std::size_t row, const store::Course& course)
{
  const auto key = rows.text(row, "key"), first_attempt = std::to_string(course.first_attempt);
  if (key.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Error(ErrorKind::environment, "the key " + printable(key) + " is none that dtctl makes");
  const auto study = rows.text(row, "study");
  const auto experiment = server_.experiment(study.empty() ? rows.text(row, "recipe") : study);
  for (auto& run : server_.runs_with_tag(experiment, key_tag, key))
    if (is_same_training(run, first_attempt)) return std::move(run);
  const double begin_unix_s = course.steps.empty() ? rows.number(row, "begin_unix_s") : course.begin_unix_s;
  return server_.create_run(experiment, rows.text(row, "name"), milliseconds(begin_unix_s),
                            {{key_tag, key}, {first_attempt_tag, first_attempt}});
}

// The server refuses another value of a parameter that it has, so only those that it lacks are sent.
void MlflowExport::send_texts(const MlflowRun& run, const TextMap& params, const TextMap& tags) const
{
  constexpr std::size_t most_bytes = 100'000; // JSON escapes can make six bytes of one, and a request holds 1 MB
  Batch batch;
  batch.tags = tags;
  std::size_t bytes = 0;
  for (const auto& [name, value] : params) {
    if (run.params.contains(name)) continue;
    if (batch.params.size() == most_params || bytes + value.size() > most_bytes) {
      server_.log(run, batch);
      batch = {};
      bytes = 0;
    }
    batch.params[name] = value;
    bytes += value.size();
  }
  server_.log(run, batch);
}

void MlflowExport::send(const MlflowRun& run, const Batch& batch)
{
  server_.log(run, batch);
  metrics_ += static_cast<std::int64_t>(batch.metrics.size());
}

// Each call holds whole points, and in its tags how far it gets.
void MlflowExport::send_curve(MlflowRun& run, const std::vector<CurvePoint>& points, const std::string& first_attempt)
{
  constexpr std::size_t tags_a_call = 3;
  const auto steps_sent = number_in(run.tags, steps_tag), evals_sent = number_in(run.tags, evals_tag);
  Batch batch;
  for (const auto& point : points) {
    if (point.step <= (point.is_evaluation ? evals_sent : steps_sent)) continue;
    if (batch.metrics.size() + point.values.size() + tags_a_call > most_entities) {
      send(run, batch);
      batch = {};
    }
    for (const auto& [name, value] : point.values)
      if (std::isfinite(value)) batch.add_metric(name, value, milliseconds(point.unix_s), point.step);
    batch.tags[point.is_evaluation ? evals_tag : steps_tag] = std::to_string(point.step);
    batch.tags[first_attempt_tag] = first_attempt;
  }
  if (!batch.tags.empty()) send(run, batch);
}

void MlflowExport::send_result(const MlflowRun& run, const Batch& result)
{
  const auto wanted = result.tags.find(result_tag);
  if (wanted == result.tags.end()) return;
  const auto sent = run.tags.find(result_tag);
  if (sent == run.tags.end() || sent->second != wanted->second) send(run, result);
}

void MlflowExport::add(const FlatRows& rows, std::size_t row)
{
  const auto course = store::course_of_run(results_.database(), rows.text(row, "key"));
  auto run = find_or_create(rows, row, course);
  send_texts(run, params_of(rows, row), tags_of(rows, row, run));
  send_curve(run, curve_of(course, samples_of_step(rows, row)), std::to_string(course.first_attempt));
  send_result(run, result_of(rows, row));
  const auto state = rows.text(row, "state");
  const bool has_ended = is_final(run_state_of(state).value_or(RunState::unknown));
  const double end_unix_s = std::fmin(rows.number(row, "end_unix_s"), rows.number(row, "finished_unix_s"));
  if (const auto status = status_of(state); !status.empty())
    server_.update(run, status, has_ended ? milliseconds(end_unix_s) : 0);
  ++runs_;
  if (run.is_new) ++new_runs_;
}

void MlflowExport::report(Context& context) const
{
  context.out.field("server", "sent to", text_cell(server_.url()));
  context.out.field("runs", "runs", count_cell(runs_));
  context.out.field("new_runs", "new runs", count_cell(new_runs_));
  context.out.field("metrics", "metric values", count_cell(metrics_));
}

} // namespace

void export_mlflow(Context& context, ResultsStore& results, const Selection& selection, const std::string& url)
{
  MlflowExport mlflow(results, url);
  const auto rows = flat_rows(results, selection);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      mlflow.add(rows, i);
    } catch (const Error& error) {
      throw error.within(fmt::format("{} (run {} of {}; the runs before it were exported)", printable(rows.text(i, "name")),
                                     i + 1, rows.size()));
    }
  }
  mlflow.report(context);
}

} // namespace dt::cli
