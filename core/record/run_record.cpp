#include "core/record/run_record.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"
#include "core/record/parse.hpp"
#include "core/spec/secrets.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace dt {
namespace {

// In `cancel`, dtjob writes this and why it held the run back; dtctl writes the name of the user who cancelled it.
// Kinds of cancellations that dtctl makes itself, and how they are written.
constexpr std::pair<std::string_view, std::string_view> own_cancellations[]{{cause_kind::held_back, "held back"},
                                                                            {cause_kind::ended_early, "ended early"}};

namespace fs = std::filesystem;
using namespace record;

Json json_of(const FieldValue& value)
{
  return std::visit([](const auto& v) -> Json { return v; }, value);
}

FieldValue field_of(const Json& json, const Key& key)
{
  return std::visit([&](const auto& value) -> FieldValue { return json.get<std::decay_t<decltype(value)>>(); }, default_of(key));
}

Json json_of(const RankRecord& rank)
{
  auto json = record::json_of(rank, rank_fields());
  for (std::size_t i = 0; i < phase_count; ++i)
    json["phases"][std::string(phase_names[i])] = record::json_of(rank.phases[i], phase_fields());
  json["step"] = record::json_of(rank.step, phase_fields());
  return json;
}

RankRecord rank_of(const Json& json)
{
  auto rank = record_of(json, rank_fields());
  for (std::size_t i = 0; i < phase_count; ++i)
    rank.phases[i] = record_of(json.at("phases").at(std::string(phase_names[i])), phase_fields());
  rank.step = record_of(json.at("step"), phase_fields());
  return rank;
}

} // namespace

fs::path spec_path(const fs::path& run_folder) { return run_folder / "spec.json"; }

std::string to_json(const PlannedRun& run)
{
  Json json{{"schema", record::schema}, {"key", run.key},          {"engine_build", run.engine_build},
            {"data_id", run.data_id},   {"label", run.spec.label}, {"repeat", run.spec.repeat}};
  if (!run.start_id.empty()) json["start_id"] = run.start_id;
  if (!run.environment_id.empty()) json["environment_id"] = run.environment_id;
  for (const auto& key : spec_keys())
    if (key.field != nullptr) json[Json::json_pointer("/" + join(split(key.path, '.'), "/"))] = json_of(value_of(run.spec, key));
  return dump(json);
}

PlannedRun read_planned_run(const fs::path& run_folder)
{
  const auto path = spec_path(run_folder);
  return parse_planned_run(read_file(path), path.string());
}

PlannedRun parse_planned_run(std::string_view text, const std::string& origin)
{
  const auto json = Json::parse(text, nullptr, false);
  if (const auto later = words_of_later_schema(json, record::schema); !later.empty())
    throw Error(ErrorKind::environment, origin + " " + later);
  if (!is_ours(json))
    throw Error(ErrorKind::environment, origin + " is not a run's spec of format " + std::to_string(record::schema));
  try {
    PlannedRun run{json.at("key"),
                   json.at("engine_build"),
                   json.at("data_id"),
                   {},
                   json.value("start_id", ""),
                   json.value("environment_id", "")};
    run.spec.label = json.at("label");
    run.spec.repeat = json.at("repeat");
    for (const auto& key : spec_keys()) {
      const Json::json_pointer at("/" + join(split(key.path, '.'), "/"));
      if (key.field != nullptr && json.contains(at)) set_value(run.spec, key, field_of(json.at(at), key));
    }
    return run;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::environment, origin + " is damaged: " + error.what());
  } catch (const Error& error) {
    throw error.within(origin);
  }
}

std::string to_json(const Submission& submission) { return record::to_json(submission, submission_fields()); }

std::string to_json(const RankError& error) { return record::to_json(error, error_fields()); }

std::string to_line(const Heartbeat& heartbeat)
{
  std::string line = "beat";
  put_seconds(line, heartbeat.unix_s);
  put(line, heartbeat.step);
  put(line, heartbeat.steps);
  return line += '\n';
}

std::string to_line(const JobEnd& end) { return fmt::format("exit {} {:.3f}\n", end.exit_code, end.unix_s); }

std::string to_line(const Launch& launch)
{
  return fmt::format("launch {} {:.3f} {}\n", launch.number, launch.unix_s, launch.exit_code);
}

std::string to_line(const Wish& wish)
{
  return fmt::format("asked {:.3f} {} {}\n", wish.unix_s, wish.verb, printable(wish.answer));
}

std::optional<Submission> read_submission(const AttemptFolder& attempt) { return read(attempt.submission(), parse_submission); }

std::optional<Submission> record::parse_submission(std::string_view text) { return parse(text, submission_fields()); }

std::string to_json(const FailureCause& cause) { return record::to_json(cause, failure_cause_fields()); }
std::optional<FailureCause> record::parse_failure_cause(std::string_view text) { return parse(text, failure_cause_fields()); }

std::string to_json(const Preemption& preemption) { return record::to_json(preemption, preemption_fields()); }

std::optional<Preemption> read_preemption(const AttemptFolder& attempt) { return read(attempt.preempted(), parse_preemption); }

std::optional<Preemption> record::parse_preemption(std::string_view text) { return parse(text, preemption_fields()); }

std::string to_json(const Deferral& deferral) { return record::to_json(deferral, deferral_fields()); }

std::optional<Deferral> read_deferral(const AttemptFolder& attempt) { return read(attempt.deferred(), parse_deferral); }

std::optional<Deferral> record::parse_deferral(std::string_view text) { return parse(text, deferral_fields()); }

std::vector<Launch> read_launches(const AttemptFolder& attempt)
{
  return parse_launches(read_file_if_exists(attempt.launches()).value_or(""));
}

std::vector<Launch> record::parse_launches(std::string_view text)
{
  std::vector<Launch> launches;
  for (const auto& line : split(text.substr(0, text.rfind('\n') + 1), '\n')) {
    std::string_view rest = line;
    if (!rest.starts_with("launch")) continue;
    rest.remove_prefix(6);
    Launch launch;
    if (take(rest, launch.number) && take(rest, launch.unix_s) && take(rest, launch.exit_code)) launches.push_back(launch);
  }
  return launches;
}

std::vector<Wish> record::parse_wishes(std::string_view text)
{
  std::vector<Wish> wishes;
  for (const auto& line : split(text.substr(0, text.rfind('\n') + 1), '\n')) {
    std::string_view rest = line;
    Wish wish;
    if (!rest.starts_with("asked")) continue;
    rest.remove_prefix(5);
    if (!take(rest, wish.unix_s) || !rest.starts_with(' ')) continue;
    rest.remove_prefix(1);
    const auto blank = rest.find(' ');
    if (blank == rest.npos) continue;
    wish.verb = rest.substr(0, blank);
    wish.answer = rest.substr(blank + 1);
    wishes.push_back(std::move(wish));
  }
  return wishes;
}

std::optional<RankError> read_error(const AttemptFolder& attempt) { return read(attempt.error(), parse_error); }

std::optional<RankError> record::parse_error(std::string_view text) { return parse(text, error_fields()); }

std::optional<JobEnd> read_end(const AttemptFolder& attempt) { return read(attempt.end(), parse_end); }

std::optional<JobEnd> record::parse_end(std::string_view text)
{
  if (!text.starts_with("exit ")) return std::nullopt;
  text.remove_prefix(4);
  JobEnd end;
  if (!take(text, end.exit_code) || !take(text, end.unix_s) || text != "\n") return std::nullopt;
  return end;
}

std::optional<Heartbeat> read_heartbeat(const AttemptFolder& attempt) { return read(attempt.heartbeat(), parse_heartbeat); }

std::optional<Heartbeat> record::parse_heartbeat(std::string_view text)
{
  if (!text.starts_with("beat ")) return std::nullopt;
  text.remove_prefix(4);
  Heartbeat beat;
  if (!take(text, beat.unix_s) || !take(text, beat.step) || !take(text, beat.steps) || text != "\n") return std::nullopt;
  return beat;
}

std::string_view words_of_cancellation(std::string_view kind)
{
  for (const auto& [name, words] : own_cancellations)
    if (name == kind) return words;
  return {};
}

std::string to_line(const Cancellation& cancellation)
{
  const auto words = words_of_cancellation(cancellation.kind);
  const auto by = words.empty() ? cancellation.who : fmt::format("{}: {}", words, cancellation.why);
  return fmt::format("{:.3f} {}\n", cancellation.unix_s, printable(by));
}

Cancellation record::parse_cancellation(std::string_view text)
{
  Cancellation cancellation;
  std::from_chars(text.data(), text.data() + text.size(), cancellation.unix_s);
  const auto by = trim(text.substr(std::min(text.find(' '), text.size())));
  for (const auto& [kind, words] : own_cancellations)
    if (by.starts_with(words) && by.substr(words.size()).starts_with(": ")) {
      cancellation.kind = kind;
      cancellation.why = by.substr(words.size() + 2);
      return cancellation;
    }
  cancellation.who = by;
  return cancellation;
}

// The environment may hold the command of the program, with its secrets.
std::string to_json(const BeginRecord& begin)
{
  auto shown = begin;
  shown.environment = without_secrets(begin.environment);
  return record::to_json(shown, begin_fields());
}

std::optional<BeginRecord> read_begin(const AttemptFolder& attempt) { return read(attempt.begin(), parse_begin); }

std::optional<BeginRecord> record::parse_begin(std::string_view text)
{
  auto begin = parse(text, begin_fields());
  if (begin) begin->environment = without_secrets(std::move(begin->environment)); // an older dtctl wrote them
  return begin;
}

std::string to_json(const RunResult& result)
{
  Json ranks = Json::array();
  for (const auto& rank : result.ranks) ranks.push_back(json_of(rank));
  Json buckets = Json::array();
  for (const auto& bucket : result.buckets) buckets.push_back(record::json_of(bucket, bucket_fields()));
  return record::to_json(result, result_fields(), Json{{"ranks", ranks}, {"buckets", buckets}});
}

std::optional<Outcome> record::parse_outcome(std::string_view text)
{
  return parse_with<Outcome>(text, [](const Json& json) {
    if (json.contains("fenced_by")) return Outcome{std::nullopt, json.at("fenced_by").get<int>()};
    auto result = record_of(json, result_fields());
    for (const auto& rank : json.at("ranks")) result.ranks.push_back(rank_of(rank));
    for (const auto& bucket : json.at("buckets")) result.buckets.push_back(record_of(bucket, bucket_fields()));
    return Outcome{std::move(result), std::nullopt};
  });
}

Outcome read_outcome(const AttemptFolder& attempt) { return read(attempt.result(), parse_outcome).value_or(Outcome{}); }

std::optional<RunResult> read_result(const AttemptFolder& attempt) { return read_outcome(attempt).result; }

bool commit_result(const AttemptFolder& attempt, const RunResult& result)
{
  return create_file_exclusive(attempt.result(), to_json(result));
}

bool fence(const AttemptFolder& attempt, int successor)
{
  return create_file_exclusive(attempt.result(), dump(Json{{"schema", record::schema}, {"fenced_by", successor}}));
}

std::optional<int> fenced_by(const AttemptFolder& attempt) { return read_outcome(attempt).fenced_by; }

std::string to_json(const ProbeRecord& probe)
{
  Json ranks = Json::array();
  for (const auto& rank : probe.ranks) ranks.push_back(record::json_of(rank, rank_probe_fields()));
  return record::to_json(probe, probe_fields(), Json{{"ranks", ranks}});
}

std::optional<ProbeRecord> read_probe(const AttemptFolder& attempt) { return read(attempt.probe(), parse_probe); }

std::optional<ProbeRecord> record::parse_probe(std::string_view text)
{
  return parse_with<ProbeRecord>(text, [](const Json& json) {
    auto probe = record_of(json, probe_fields());
    for (const auto& rank : json.at("ranks")) probe.ranks.push_back(record_of(rank, rank_probe_fields()));
    return probe;
  });
}

} // namespace dt
