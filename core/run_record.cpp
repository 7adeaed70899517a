#include "core/run_record.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/spec_schema.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace dt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int record_schema = 1;

// Texts may hold anything a user or a program printed; JSON holds UTF-8.
std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

bool is_ours(const Json& json) { return json.is_object() && json.contains("schema") && json["schema"] == record_schema; }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number_of(const Json& json) { return json.is_null() ? not_measured : json.get<double>(); }

double number_of(const Json& json, const char* name)
{
  const auto found = json.find(name);
  return found == json.end() ? not_measured : number_of(*found);
}

// The record in a file, or nothing when the file is missing, torn or of another format.
template<class Record, class Convert> std::optional<Record> read_record(const fs::path& path, Convert convert)
{
  const auto text = read_file_if_exists(path);
  if (!text) return std::nullopt;
  const auto json = Json::parse(*text, nullptr, false);
  if (!is_ours(json)) return std::nullopt;
  try {
    return convert(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

int number_in_name(std::string_view name)
{
  int number = 0;
  const auto error = std::from_chars(name.data(), name.data() + name.size(), number).ec;
  return error == std::errc() && number > 0 && name == std::to_string(number) ? number : 0; // "01" is not ours
}

// Reads a blank and a number and moves `text` behind them.
template<class Number> bool take(std::string_view& text, Number& value)
{
  if (text.empty() || text.front() != ' ') return false;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

template<class Number> void put(std::string& text, Number value)
{
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text += ' ';
  text.append(digits.data(), end);
}

// A measured time: nanoseconds are enough, and shorter than all 17 digits.
void put_seconds(std::string& text, double value)
{
  std::array<char, 48> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 9);
  text += ' ';
  text.append(digits.data(), error == std::errc() ? end : digits.data());
}

Json json_of(const FieldValue& value) { return std::visit([](const auto& v) -> Json { return v; }, value); }

FieldValue field_of(const Json& json, const Key& key)
{
  return std::visit([&](auto* field) -> FieldValue { return json.get<std::remove_pointer_t<decltype(field)>>(); },
                    [&] { static RunSpec spec; return key.field(spec); }());
}

Json json_of(const PhaseStats& s)
{
  return Json{{"total_s", s.total_s}, {"mean_s", s.mean_s}, {"p50_s", s.p50_s}, {"p95_s", s.p95_s}, {"p99_s", s.p99_s}, {"max_s", s.max_s}};
}

PhaseStats stats_of(const Json& j)
{
  return {number_of(j.at("total_s")), number_of(j.at("mean_s")), number_of(j.at("p50_s")),
          number_of(j.at("p95_s")),   number_of(j.at("p99_s")),  number_of(j.at("max_s"))};
}

Json json_of(const RankRecord& rank)
{
  Json phases = Json::object();
  for (std::size_t i = 0; i < phase_count; ++i) phases[std::string(phase_names[i])] = json_of(rank.phases[i]);
  return Json{{"rank", rank.rank}, {"host", rank.host}, {"role", rank.role}, {"phases", phases}, {"step", json_of(rank.step)}, {"bytes_sent", rank.bytes_sent},
              {"messages_sent", rank.messages_sent}, {"memory_peak_bytes", rank.memory_peak_bytes}};
}

RankRecord rank_of(const Json& j)
{
  RankRecord rank;
  rank.rank = j.at("rank");
  rank.host = j.at("host");
  rank.role = j.value("role", rank.role);
  for (std::size_t i = 0; i < phase_count; ++i) rank.phases[i] = stats_of(j.at("phases").at(std::string(phase_names[i])));
  rank.step = stats_of(j.at("step"));
  rank.bytes_sent = j.at("bytes_sent");
  rank.messages_sent = j.at("messages_sent");
  rank.memory_peak_bytes = j.at("memory_peak_bytes");
  return rank;
}

} // namespace

AttemptFolder::AttemptFolder(const fs::path& run_folder, int number)
    : path_(run_folder / "attempts" / std::to_string(number)), number_(number)
{
}

AttemptFolder::AttemptFolder(const fs::path& attempt_folder) : path_(attempt_folder), number_(number_in_name(attempt_folder.filename().native())) {}

fs::path spec_path(const fs::path& run_folder) { return run_folder / "spec.json"; }

std::vector<int> attempt_numbers(const fs::path& run_folder)
{
  std::vector<int> numbers;
  for (const auto& name : names_in(run_folder / "attempts"))
    if (const int number = number_in_name(name); number > 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string to_json(const PlannedRun& run)
{
  Json json{{"schema", record_schema}, {"key", run.key}, {"engine_build", run.engine_build}, {"data_id", run.data_id},
            {"label", run.spec.label}, {"repeat", run.spec.repeat}};
  if (!run.start_id.empty()) json["start_id"] = run.start_id;
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
  if (!is_ours(json))
    throw Error(ErrorKind::environment, origin + " is not a run's spec of format " + std::to_string(record_schema));
  try {
    PlannedRun run{json.at("key"), json.at("engine_build"), json.at("data_id"), {}, json.value("start_id", "")};
    run.spec.label = json.at("label");
    run.spec.repeat = json.at("repeat");
    for (const auto& key : spec_keys()) {
      const Json::json_pointer at("/" + join(split(key.path, '.'), "/"));
      if (key.field != nullptr && json.contains(at)) set_value(run.spec, key, field_of(json.at(at), key));
    }
    return run;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::environment, origin + " is damaged: " + error.what());
  }
}

std::string to_json(const Submission& s)
{
  return dump(Json{{"schema", record_schema}, {"attempt", s.attempt}, {"token", s.token}, {"scheduler", s.scheduler}, {"study", s.study},
                   {"submitted_unix_s", s.submitted_unix_s}, {"job_id", s.job_id}, {"restart", s.restart}});
}

std::string to_json(const RankError& e)
{
  return dump(Json{{"schema", record_schema}, {"rank", e.rank}, {"host", e.host}, {"cause", e.cause}, {"step", e.step}, {"unix_s", e.unix_s}});
}

std::string to_line(const Heartbeat& heartbeat)
{
  std::string line = "beat";
  put_seconds(line, heartbeat.unix_s);
  put(line, heartbeat.step);
  put(line, heartbeat.steps);
  return line += '\n';
}

std::optional<Submission> read_submission(const AttemptFolder& attempt)
{
  return read_record<Submission>(attempt.submission(), [](const Json& j) {
    return Submission{j.at("attempt"), j.at("token"), j.at("scheduler"), j.at("study"), j.at("submitted_unix_s"), j.at("job_id"),
                      j.value("restart", 0)};
  });
}

std::string to_json(const Preemption& p)
{
  return dump(Json{{"schema", record_schema}, {"unix_s", p.unix_s}, {"step", p.step}, {"steps", p.steps},
                   {"checkpoint", p.checkpoint}, {"signal", p.signal}});
}

std::optional<Preemption> read_preemption(const AttemptFolder& attempt)
{
  return read_record<Preemption>(attempt.preempted(), [](const Json& j) {
    return Preemption{j.at("unix_s"), j.at("step"), j.at("steps"), j.at("checkpoint"), j.at("signal")};
  });
}

std::string to_json(const Deferral& d)
{
  return dump(Json{
      {"schema", record_schema}, {"unix_s", d.unix_s}, {"reason", d.reason}, {"max_running", d.max_running}, {"after", d.after}});
}

std::optional<Deferral> read_deferral(const AttemptFolder& attempt)
{
  return read_record<Deferral>(attempt.deferred(), [](const Json& j) {
    return Deferral{j.at("unix_s"), j.at("reason"), j.at("max_running"), j.at("after")};
  });
}

std::vector<Launch> read_launches(const AttemptFolder& attempt)
{
  std::vector<Launch> launches;
  const auto text = read_file_if_exists(attempt.launches()).value_or("");
  for (const auto& line : split(text.substr(0, text.rfind('\n') + 1), '\n')) {
    std::string_view rest = line;
    if (!rest.starts_with("launch")) continue;
    rest.remove_prefix(6);
    Launch launch;
    if (take(rest, launch.number) && take(rest, launch.unix_s) && take(rest, launch.exit_code)) launches.push_back(launch);
  }
  return launches;
}

std::optional<RankError> read_error(const AttemptFolder& attempt)
{
  return read_record<RankError>(attempt.error(), [](const Json& j) {
    return RankError{j.at("rank"), j.at("host"), j.at("cause"), j.at("step"), j.at("unix_s")};
  });
}

std::optional<JobEnd> read_end(const AttemptFolder& attempt)
{
  const auto text = read_file_if_exists(attempt.end());
  if (!text || !text->starts_with("exit ")) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(4);
  JobEnd end;
  if (!take(rest, end.exit_code) || !take(rest, end.unix_s) || rest != "\n") return std::nullopt;
  return end;
}

std::optional<Heartbeat> read_heartbeat(const AttemptFolder& attempt)
{
  const auto text = read_file_if_exists(attempt.heartbeat());
  if (!text || !text->starts_with("beat ")) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(4);
  Heartbeat beat;
  if (!take(rest, beat.unix_s) || !take(rest, beat.step) || !take(rest, beat.steps) || rest != "\n") return std::nullopt;
  return beat;
}

std::string to_json(const BeginRecord& b)
{
  return dump(Json{{"schema", record_schema}, {"unix_s", b.unix_s}, {"host", b.host}, {"pid", b.pid}, {"ranks", b.ranks}, {"nodes", b.nodes},
                   {"threads_per_rank", b.threads_per_rank}, {"rank_hosts", b.rank_hosts}, {"rank_masks", b.rank_masks},
                   {"environment", b.environment}});
}

std::optional<BeginRecord> read_begin(const AttemptFolder& attempt)
{
  return read_record<BeginRecord>(attempt.begin(), [](const Json& j) {
    return BeginRecord{j.at("unix_s"), j.at("host"), j.at("pid"), j.at("ranks"), j.at("nodes"), j.at("threads_per_rank"),
                       j.at("rank_hosts"), j.at("rank_masks"), j.at("environment")};
  });
}

void append_line(std::string& text, const StepEvent& e)
{
  text += "step";
  put(text, e.step);
  put(text, e.epoch);
  put_seconds(text, e.elapsed_s);
  put(text, e.loss);
  put(text, e.learning_rate);
  put_seconds(text, e.step_s);
  for (std::size_t i = 0; i < phase_count; ++i)
    if (i != static_cast<std::size_t>(Phase::evaluation)) put_seconds(text, e.phase_s[i]);
  text += '\n';
}

void append_line(std::string& text, const EvalEvent& e)
{
  text += "eval";
  put(text, e.step);
  put(text, e.epoch);
  put_seconds(text, e.elapsed_s);
  put(text, e.loss);
  put(text, e.accuracy);
  put(text, e.samples);
  put_seconds(text, e.eval_s);
  text += '\n';
}

Event parse_event(std::string_view line)
{
  if (line.size() < 5) return {};
  const auto tag = line.substr(0, 4);
  line.remove_prefix(4);
  if (tag == "step") {
    StepEvent e;
    bool whole = take(line, e.step) && take(line, e.epoch) && take(line, e.elapsed_s) && take(line, e.loss) &&
                 take(line, e.learning_rate) && take(line, e.step_s);
    for (std::size_t i = 0; whole && i < phase_count; ++i)
      if (i != static_cast<std::size_t>(Phase::evaluation)) whole = take(line, e.phase_s[i]);
    if (whole && line.empty()) return e;
  } else if (tag == "eval") {
    EvalEvent e;
    if (take(line, e.step) && take(line, e.epoch) && take(line, e.elapsed_s) && take(line, e.loss) && take(line, e.accuracy) &&
        take(line, e.samples) && take(line, e.eval_s) && line.empty())
      return e;
  }
  return {};
}

Events parse_events(std::string_view text)
{
  Events events;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto event = parse_event(text.substr(0, end));
    if (const auto* step = std::get_if<StepEvent>(&event)) events.steps.push_back(*step);
    if (const auto* eval = std::get_if<EvalEvent>(&event)) events.evals.push_back(*eval);
    text.remove_prefix(end + 1);
  }
  return events;
}

Json json_of(const Staleness& s)
{
  return Json{{"updates", s.updates}, {"mean", number(s.mean)}, {"p95", number(s.p95)}, {"max", number(s.max)}};
}

Staleness staleness_of(const Json& j) { return {j.at("updates"), number_of(j.at("mean")), number_of(j.at("p95")), number_of(j.at("max"))}; }

std::string to_json(const RunResult& r)
{
  Json ranks = Json::array();
  for (const auto& rank : r.ranks) ranks.push_back(json_of(rank));
  return dump(Json{{"schema", record_schema}, {"unix_s", r.unix_s}, {"steps", r.steps}, {"warmup_steps", r.warmup_steps},
                   {"resumed_step", r.resumed_step},
                   {"measured_samples", r.measured_samples}, {"measured_s", number(r.measured_s)}, {"throughput", number(r.throughput)},
                   {"wall_s", number(r.wall_s)}, {"communication_share", number(r.communication_share)}, {"final_loss", number(r.final_loss)},
                   {"eval_loss", number(r.eval_loss)}, {"accuracy", number(r.accuracy)}, {"best_accuracy", number(r.best_accuracy)},
                   {"time_to_accuracy_s", number(r.time_to_accuracy_s)}, {"parameters", r.parameters}, {"weights_hash", r.weights_hash},
                   {"isolated_communication_s", number(r.isolated_communication_s)}, {"accuracy_centre", number(r.accuracy_centre)},
                   {"accuracy_worker", number(r.accuracy_worker)}, {"accuracy_average", number(r.accuracy_average)},
                   {"staleness", json_of(r.staleness)}, {"facts", r.facts},
                   {"ranks", ranks}});
}

void read_strategy_results(const Json& j, RunResult& r)
{
  r.isolated_communication_s = number_of(j, "isolated_communication_s");
  r.accuracy_centre = number_of(j, "accuracy_centre");
  r.accuracy_worker = number_of(j, "accuracy_worker");
  r.accuracy_average = number_of(j, "accuracy_average");
  r.staleness = staleness_of(j.at("staleness"));
  r.facts = j.at("facts").get<std::map<std::string, std::string>>();
}

std::optional<RunResult> read_result(const AttemptFolder& attempt)
{
  return read_record<RunResult>(attempt.result(), [](const Json& j) {
    RunResult r;
    r.unix_s = j.at("unix_s");
    r.steps = j.at("steps");
    r.warmup_steps = j.at("warmup_steps");
    r.resumed_step = j.value("resumed_step", std::int64_t{0});
    r.measured_samples = j.at("measured_samples");
    r.measured_s = number_of(j, "measured_s");
    r.throughput = number_of(j, "throughput");
    r.wall_s = number_of(j, "wall_s");
    r.communication_share = number_of(j, "communication_share");
    r.final_loss = number_of(j, "final_loss");
    r.eval_loss = number_of(j, "eval_loss");
    r.accuracy = number_of(j, "accuracy");
    r.best_accuracy = number_of(j, "best_accuracy");
    r.time_to_accuracy_s = number_of(j, "time_to_accuracy_s");
    r.parameters = j.at("parameters");
    r.weights_hash = j.at("weights_hash");
    if (j.contains("staleness")) read_strategy_results(j, r); // not in results of earlier versions
    for (const auto& rank : j.at("ranks")) r.ranks.push_back(rank_of(rank));
    return r;
  });
}

bool commit_result(const AttemptFolder& attempt, const RunResult& result)
{
  return create_file_exclusive(attempt.result(), to_json(result));
}

bool fence(const AttemptFolder& attempt, int successor)
{
  return create_file_exclusive(attempt.result(), dump(Json{{"schema", record_schema}, {"fenced_by", successor}}));
}

std::optional<int> fenced_by(const AttemptFolder& attempt)
{
  return read_record<int>(attempt.result(), [](const Json& j) { return j.at("fenced_by").get<int>(); });
}

std::string to_json(const ProbeRecord& p)
{
  Json ranks = Json::array();
  for (const auto& rank : p.ranks)
    ranks.push_back({{"rank", rank.rank}, {"host", rank.host}, {"clock_mhz", number(rank.clock_mhz)}, {"gemm_gflops", number(rank.gemm_gflops)}});
  return dump(Json{{"schema", record_schema}, {"unix_s", p.unix_s}, {"allreduce_s", number(p.allreduce_s)},
                   {"allreduce_bytes", p.allreduce_bytes}, {"ranks", ranks}});
}

std::optional<ProbeRecord> read_probe(const AttemptFolder& attempt)
{
  return read_record<ProbeRecord>(attempt.probe(), [](const Json& j) {
    ProbeRecord probe;
    probe.unix_s = j.at("unix_s");
    probe.allreduce_s = number_of(j, "allreduce_s");
    probe.allreduce_bytes = j.at("allreduce_bytes");
    for (const auto& rank : j.at("ranks"))
      probe.ranks.push_back({rank.at("rank"), rank.at("host"), number_of(rank, "clock_mhz"), number_of(rank, "gemm_gflops")});
    return probe;
  });
}

namespace {
constexpr std::array<std::string_view, 12> state_names{"planned", "submitted", "queued",    "running",   "suspended", "succeeded",
                                                       "failed",  "cancelled", "timed_out", "preempted", "lost",      "unknown"};
}

std::string_view name_of(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

std::optional<RunState> run_state_of(std::string_view name)
{
  const auto* found = std::find(state_names.begin(), state_names.end(), name);
  if (found == state_names.end()) return std::nullopt;
  return static_cast<RunState>(found - state_names.begin());
}

bool is_final(RunState state)
{
  switch (state) {
  case RunState::succeeded:
  case RunState::failed:
  case RunState::cancelled:
  case RunState::timed_out:
  case RunState::preempted:
  case RunState::lost: return true;
  default: return false;
  }
}

} // namespace dt
