#include "cli/runs/compared_side.hpp"

#include "cli/output/output.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json_schema.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/separation_query.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::cli {
namespace {

using Document = nlohmann::json;

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorKind::usage, what + "; write one with: dtctl export STUDY --format json -o FILE.json");
}

// A row of an exported file. A member that is null was not measured.
class ExportedRow {
 public:
  ExportedRow(const Document& row, std::string place) : row_(row), place_(std::move(place)) {}
  std::string text(const std::string& member) const
  {
    const auto& value = at(member);
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
  }
  double real(const std::string& member) const
  {
    const auto& value = at(member);
    if (!value.is_null() && !value.is_number()) refuse(place_ + ": \"" + member + "\" is not a number");
    return value.is_null() ? not_measured : value.get<double>();
  }
  // The number in this member; not_measured if the row does not have the member.
  double real_if_there(const std::string& member) const { return row_.contains(member) ? real(member) : not_measured; }
  // MeasuredRun::copies; rows of an older dtctl have no caveats.
  std::string copies() const
  {
    const auto caveats = row_.value("caveats", Document());
    const auto map = caveats.is_string() ? Document::parse(caveats.get<std::string>(), nullptr, false) : caveats;
    return map.is_object() ? map.value("copies", std::string()) : "";
  }
  std::int64_t count(const std::string& member) const
  {
    const double value = real(member);
    return value >= 0 && value < 1e15 ? static_cast<std::int64_t>(value) : 0;
  }

 private:
  const Document& at(const std::string& member) const
  {
    const auto found = row_.find(member);
    if (found == row_.end()) refuse(place_ + " has no \"" + member + "\"");
    return *found;
  }
  const Document& row_;
  std::string place_;
};

store::ComparedRun run_of(const ExportedRow& row, const std::string& column)
{
  const double step_samples = row.real_if_there("step_samples");
  const double target = row.real("train_target_accuracy"), rate = row.real("train_modelled_rate");
  return {.key = row.text("key"),
          .series = row.text("series"),
          .value = column.empty() ? "" : row.text(column),
          .nodes = row.count("nodes"),
          .ranks = row.count("ranks"),
          .repeat = row.count("repeat"),
          .seed = row.count("seed"),
          .is_control = row.count("control") != 0,
          .succeeded = row.text("state") == name_of(RunState::succeeded),
          .has_diverged = std::isfinite(row.real("diverged_step")),
          .copies = row.copies(),
          .knows_target = std::isfinite(row.real("time_to_accuracy_s")) || row.real("samples_to_accuracy") == 0,
          .block = {},
          .model = row.text("model"),
          .data_id = row.text("data_id"),
          .engine_build = row.text("engine_build"),
          .global_batch = step_samples > 0 ? std::llround(step_samples) : row.count("global_batch"),
          .target_accuracy = target > 0 ? target : 0,
          .modelled_rate = rate > 0 ? rate : 0,
          .platform = row.text("resources_platform"),
          .throughput = row.real("throughput"),
          .step_s = row.real("step_p50_s"),
          .accuracy = row.real("accuracy"),
          .time_to_accuracy_s = row.real("time_to_accuracy_s"),
          .wall_s = row.real("wall_s"),
          .samples_to_accuracy = row.real("samples_to_accuracy"),
          .joules_per_sample = row.real_if_there("energy_joules_per_sample"),
          .mfu = row.real_if_there("mfu")};
}

// The time and the machine of a run, as an exported reference file has them.
store::Measured measured_of(const ExportedRow& row)
{
  store::Measured run{.run = row.text("key"),
                      .study = row.text("study_key"),
                      .begin_unix_s = row.real("begin_unix_s"),
                      .end_unix_s = row.real("end_unix_s"),
                      .hosts = {}};
  if (const auto host = row.text("host"); !host.empty()) run.hosts.insert(host);
  return run;
}

std::string title_of(const Selection& selection, const Selector& selector)
{
  const auto runs = counted(selection.runs.size(), "run");
  if (selection.study && selection.whole_study)
    return fmt::format("{} ({}), {}", selection.study->name, short_key(selection.study->id), runs);
  return fmt::format("{}{}, {}", selector.what, selector.where.empty() ? "" : " where " + selector.where, runs);
}

// Annotations of a merge request name files of the repository, in whose folder CI runs dtctl.
std::string recipe_of(const Home& home, const Selection& selection)
{
  const auto record = selection.study ? record_of(home, *selection.study) : std::nullopt;
  if (!record || record->recipe_path.empty()) return "";
  const auto seen = std::filesystem::path(record->recipe_path).lexically_relative(std::filesystem::current_path());
  return seen.empty() || *seen.begin() == ".." ? "" : seen.string();
}

} // namespace

ComparedSide side_of(ResultsStore& results, const Selector& selector, const std::string& by)
{
  const auto selection = select(results, selector);
  if (selection.runs.empty()) throw Error(ErrorKind::usage, "no run of " + printable(selector.what) + " is selected");
  return {.title = title_of(selection, selector),
          .runs = store::compared_runs(results.database(), rows_of(selection.runs), by),
          .measured = store::measured_of(results.database(), keys_of(selection.runs)),
          .labels = own_labels(selection),
          .recipe = recipe_of(results.home(), selection),
          .study = selection.study ? selection.study->name : ""};
}

bool is_reference_file(const std::string& reference) { return reference.ends_with(".json"); }

ComparedSide read_reference(const std::filesystem::path& file, const std::string& column)
{
  const auto shown = printable(file.string());
  const auto text = read_file_if_exists(file);
  if (!text) refuse(shown + ": there is no such file");
  const auto document = Document::parse(*text, nullptr, false);
  const auto runs = document.is_object() ? document.find("runs") : document.end();
  if (document.is_discarded() || runs == document.end() || !runs->is_array())
    refuse(shown + " is not a file of dtctl export in JSON");
  if (const auto later = words_of_later_schema(document, json_schema_version); !later.empty()) refuse(shown + " " + later);
  if (runs->empty()) refuse(shown + " holds no run");
  ComparedSide side{.title = fmt::format("{}, {}", file.string(), counted(runs->size(), "run")), .runs = {}, .measured = {}};
  for (std::size_t i = 0; i < runs->size(); ++i) {
    const ExportedRow row((*runs)[i], fmt::format("{}: row {} of \"runs\"", shown, i + 1));
    side.runs.push_back(run_of(row, column));
    if (side.runs.back().succeeded) side.measured.push_back(measured_of(row));
  }
  return side;
}

} // namespace dt::cli
