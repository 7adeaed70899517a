// The format prometheus: Prometheus' text-based exposition format, version 0.0.4.
#include "cli/command/destination.hpp"
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "core/files/file.hpp"
#include "core/record/run_state.hpp"
#include "core/text.hpp"
#include "store/query/queries.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace dt::cli {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// The samples of one gauge.
struct Gauge {
  std::string name, help;
  std::vector<std::pair<Labels, double>> samples{};
};

// A backslash, a quote and a line feed must be escaped in a label's value; every other character may stand as it is. Bytes that
// are no UTF-8 would make Prometheus refuse the whole file.
std::string label_value(const std::string& text)
{
  const auto valid = is_valid_utf8(text) ? text : printable(text);
  std::string escaped;
  for (const char c : valid) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return escaped;
}

std::string sample_line(const Gauge& gauge, const Labels& labels, double value)
{
  std::string line = gauge.name + "{";
  for (const auto& [name, text] : labels) line += (line.back() == '{' ? "" : ",") + name + "=\"" + label_value(text) + "\"";
  return line + "} " + format_shortest(value) + "\n";
}

// Leaves out what was not measured, and gauges without a sample.
std::string text_of(const Gauge& gauge)
{
  std::string lines;
  for (const auto& [labels, value] : gauge.samples)
    if (std::isfinite(value)) lines += sample_line(gauge, labels, value);
  return lines.empty() ? "" : "# HELP " + gauge.name + " " + gauge.help + "\n# TYPE " + gauge.name + " gauge\n" + lines;
}

// A figure of a study's points.
struct PointGauge {
  Gauge gauge;
  double (*figure)(const store::ScalingRow&);
};

struct Gauges {
  Gauge runs{"dtctl_study_runs", "Number of runs of the study in this state, A/A controls included."};
  Gauge last_result{"dtctl_study_last_result_timestamp_seconds",
                    "Time at which the newest result of the study was written, in seconds since 1970-01-01 UTC."};
  std::vector<PointGauge> points{
      {{"dtctl_point_succeeded_runs",
        "Number of succeeded runs of the point. The other gauges of the point are computed from these runs."},
       [](const store::ScalingRow& row) { return static_cast<double>(row.succeeded); }},
      {{"dtctl_point_diverged_runs",
        "Number of succeeded runs of the point that diverged. They are left out of accuracy and time to accuracy."},
       [](const store::ScalingRow& row) { return static_cast<double>(row.diverged); }},
      {{"dtctl_point_throughput_samples_per_second",
        "Geometric mean of the throughputs of the point's runs, in samples per second."},
       [](const store::ScalingRow& row) { return row.throughput; }},
      {{"dtctl_point_efficiency_ratio",
        "Efficiency of the point relative to the smallest size of its label; 1 is ideal scaling."},
       [](const store::ScalingRow& row) { return row.efficiency; }},
      {{"dtctl_point_communication_share_ratio",
        "Mean share of the step time in which a rank only waits for communication, from 0 to 1."},
       [](const store::ScalingRow& row) { return row.communication_share; }},
      {{"dtctl_point_accuracy_ratio", "Mean share of correct answers on the held-out set after the last step, from 0 to 1."},
       [](const store::ScalingRow& row) { return row.accuracy; }},
      {{"dtctl_point_time_to_accuracy_seconds",
        "Training time until the target accuracy was reached first, evaluations included, in seconds: the geometric mean of the "
        "runs. If a run missed the target: their median, in which a miss counts as infinite."},
       [](const store::ScalingRow& row) { return row.time_to_accuracy_s; }},
      {{"dtctl_point_joules_per_sample",
        "Geometric mean of the energy of hosts and GPUs for a sample, in joules, of runs whose energy was measured."},
       [](const store::ScalingRow& row) { return row.joules_per_sample; }},
      {{"dtctl_point_model_flops_utilisation_ratio", "Geometric mean of the model FLOPs utilisation: the FLOP/s that the model "
                                                     "needs divided by the peak of the processors, from "
                                                     "0 to 1."},
       [](const store::ScalingRow& row) { return row.mfu; }},
  };
};

Labels labels_of(const store::StudyRow& study) { return {{"study", study.name}, {"study_id", study.id}}; }

void add_points(Gauges& gauges, const Labels& study, const std::vector<store::ScalingRow>& points)
{
  for (const auto& point : points) {
    auto labels = study;
    labels.insert(labels.end(), {{"label", point.label},
                                 {"nodes", std::to_string(point.nodes)},
                                 {"ranks", std::to_string(point.ranks)},
                                 {"workers", std::to_string(point.workers)},
                                 {"simulated", point.platform.empty() ? "false" : "true"}});
    for (auto& [gauge, figure] : gauges.points) gauge.samples.emplace_back(labels, figure(point));
  }
}

// One sample for every state, so that a state's number falls to 0 instead of keeping its last value.
void add_states(Gauge& gauge, const Labels& study, const FlatRows& rows)
{
  std::map<std::string, double> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) ++counts[rows.text(i, "state")];
  for (int i = 0; i <= static_cast<int>(RunState::unknown); ++i) {
    const std::string state(name_of(static_cast<RunState>(i)));
    auto labels = study;
    labels.emplace_back("state", state);
    gauge.samples.emplace_back(labels, counts[state]);
  }
}

double last_result_unix_s(const FlatRows& rows)
{
  double last = std::nan("");
  for (std::size_t i = 0; i < rows.size(); ++i) last = std::fmax(last, rows.number(i, "finished_unix_s"));
  return last;
}

void add_study(Gauges& gauges, ResultsStore& results, const store::StudyRow& study)
{
  Selection whole{.study = study, .runs = {}};
  whole.runs = results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
  const auto rows = flat_rows(results, whole);
  const auto labels = labels_of(study);
  add_states(gauges.runs, labels, rows);
  gauges.last_result.samples.emplace_back(labels, last_result_unix_s(rows));
  add_points(gauges, labels, store::scaling_of_study(results.database(), study.id));
}

// The studies of the selected runs, each once, in the runs' order.
std::vector<store::StudyRow> studies_of(ResultsStore& results, const Selection& selection)
{
  if (selection.study) return {*selection.study};
  std::vector<store::StudyRow> studies;
  std::set<std::string> known;
  for (const auto& run : selection.runs)
    if (!run.row.study.empty() && known.insert(run.row.study).second)
      for (auto& study : store::find_studies(results.database(), run.row.study))
        if (study.id == run.row.study) studies.push_back(std::move(study));
  return studies;
}

} // namespace

void export_prometheus(Context& context, ResultsStore& results, const Selection& selection, const std::filesystem::path& file)
{
  const auto studies = studies_of(results, selection);
  if (studies.empty()) context.messages.warn("no selected run belongs to a study; the file holds no gauges");
  Gauges gauges;
  for (const auto& study : studies) add_study(gauges, results, study);
  auto text = text_of(gauges.runs) + text_of(gauges.last_result);
  for (const auto& [gauge, figure] : gauges.points) text += text_of(gauge);
  write_text(context, file.string(), "prometheus", text);
  if (is_standard_output(file.string())) return;
  context.out.field("studies", "studies", count_cell(static_cast<std::int64_t>(studies.size())));
}

} // namespace dt::cli
