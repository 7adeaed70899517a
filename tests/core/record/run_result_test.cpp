// What a run measured: events.log and result.json.
#include "core/record/fields.hpp"
#include "core/record/parse.hpp"
#include "tests/core/put_file.hpp"
#include "tests/core/record/attempt.hpp"
#include "tests/core/sample_spec.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace dt;

namespace {

const StepEvent step_sample{
    17, 0.53125, 12.345678901, 2.302585092994046, 0.1, 0.012345678, {0.001, 0.002, 0.003, 0.004, 0.005, 0}};
const EvalEvent eval_sample{500, 4.25, 99.5, 0.0123456789012345, 0.98765, 10000, 1.25, not_measured};

template<class Sample> std::string line_of(const Sample& sample)
{
  std::string text;
  append_line(text, sample);
  return text;
}

std::string_view without_end(std::string_view line) { return line.substr(0, line.size() - 1); }
bool is_foreign(std::string_view line) { return std::holds_alternative<std::monostate>(parse_event(line)); }

// Equal, or both not a number.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

// ---- events.log ------------------------------------------------------------------------------------------------------------

TEST_CASE("a step and an evaluation survive their lines, whose form is frozen: times to the nanosecond, other numbers in their "
          "shortest form")
{
  CHECK(line_of(step_sample) == "step 17 0.53125 12.345678901 2.302585092994046 0.1 0.012345678 "
                                "0.001000000 0.002000000 0.003000000 0.004000000 0.005000000\n");
  CHECK(line_of(eval_sample) == "eval 500 4.25 99.500000000 0.0123456789012345 0.98765 10000 1.250000000\n");
  const auto event = parse_event(without_end(line_of(step_sample)));
  const auto* step = std::get_if<StepEvent>(&event);
  REQUIRE(step != nullptr);
  CHECK(step->step == 17);
  CHECK(step->epoch == step_sample.epoch);
  CHECK(step->elapsed_s == step_sample.elapsed_s);
  CHECK(step->loss == step_sample.loss);
  CHECK(step->learning_rate == step_sample.learning_rate);
  CHECK(step->step_s == step_sample.step_s);
  CHECK(step->phase_s == step_sample.phase_s);
  const auto second = parse_event(without_end(line_of(eval_sample)));
  const auto* eval = std::get_if<EvalEvent>(&second);
  REQUIRE(eval != nullptr);
  CHECK(eval->step == 500);
  CHECK(eval->epoch == eval_sample.epoch);
  CHECK(eval->elapsed_s == eval_sample.elapsed_s);
  CHECK(eval->loss == eval_sample.loss);
  CHECK(eval->accuracy == eval_sample.accuracy);
  CHECK(eval->samples == 10000);
  CHECK(eval->eval_s == eval_sample.eval_s);
}

TEST_CASE("a training that diverged is recorded: a loss that is not a number or infinite survives its line")
{
  auto step = step_sample;
  step.loss = GENERATE(std::nan(""), -std::nan(""), std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity(), 1e308, 5e-324);
  const auto event = parse_event(without_end(line_of(step)));
  REQUIRE(std::holds_alternative<StepEvent>(event));
  REQUIRE(std::get<StepEvent>(event).loss);
  CHECK(same(*std::get<StepEvent>(event).loss, *step.loss));
}

TEST_CASE("a figure or a count that was not reported is `-` in a line, NaN is a value, and a step has its number")
{
  auto step = step_sample;
  step.loss = std::nan("");
  step.learning_rate = std::nullopt;
  step.phase_s[0] = not_measured;
  CHECK(line_of(step).starts_with("step 17 0.53125 12.345678901 NaN - 0.012345678 - 0.002000000"));
  const auto read = std::get<StepEvent>(parse_event(without_end(line_of(step))));
  CHECK((read.loss && std::isnan(*read.loss)));
  CHECK_FALSE(read.learning_rate);
  CHECK(std::isnan(read.phase_s[0]));
  auto eval = eval_sample;
  eval.samples = not_counted;
  CHECK(line_of(eval).find(" 0.98765 - 1.250000000") != std::string::npos);
  CHECK(std::get<EvalEvent>(parse_event(without_end(line_of(eval)))).samples == not_counted);
  CHECK(is_foreign("eval - 1 2 3 0.5 100 1"));
  CHECK(is_foreign("eval 1 1 2 3 0.5 -x 1"));
  eval.noise_scale = 138.5;
  CHECK_THAT(line_of(eval), Catch::EndsWith(" 1.250000000 138.5\n"));
  CHECK(std::get<EvalEvent>(parse_event(without_end(line_of(eval)))).noise_scale == 138.5);
}

TEST_CASE("the end of a job has its fraction of a second, so that a short run was not over before it began")
{
  const auto line = to_line(JobEnd{3, 1796072609.7379});
  CHECK(line == "exit 3 1796072609.738\n");
  CHECK(record::parse_end(line)->unix_s == Approx(1796072609.738).epsilon(1e-13));
}

TEST_CASE("a line cut off anywhere within its numbers, that is not ours, or run into another is no event")
{
  const auto step = line_of(step_sample);
  const auto last_field = step.rfind(' ');
  for (std::size_t size = 0; size <= last_field; ++size) {
    INFO(size);
    CHECK(is_foreign(std::string_view(step).substr(0, size)));
  }
  for (const auto* line :
       {"", "step", "eval", "step ", "note 1 2 3", "steps 1 2 3 4 5 6 7 8 9 10 11", "step1 2 3 4 5 6 7 8 9 10 11",
        "step x 2 3 4 5 6 7 8 9 10 11", "step 1.5 2 3 4 5 6 7 8 9 10 11", " step 1 2 3 4 5 6 7 8 9 10 11",
        "step 1 2 3 4 5 6 7 8 9 10 11 12", "step 1 2 3 4 5 6 7 8 9 10 11x", "eval 1 2 3 4 5 6", "eval 1 2 3 4 5 6 7 8 9",
        "eval 1 2 3 4 5 6.5 7", "STEP 1 2 3 4 5 6 7 8 9 10 11"}) {
    INFO(line);
    CHECK(is_foreign(line));
  }
  const auto whole = line_of(step_sample);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(size);
    CHECK(is_foreign(std::string(whole, 0, size) + std::string(without_end(whole))));
  }
}

TEST_CASE("of a log all whole lines are read in order, and a torn tail and foreign lines are left out, and appending adds to it")
{
  std::string text = "# started\n";
  append_line(text, step_sample);
  text += "\nnonsense\n";
  append_line(text, eval_sample);
  auto second = step_sample;
  second.step = 18;
  append_line(text, second);
  const auto torn = line_of(step_sample);
  for (std::size_t size = 0; size < torn.size(); ++size) {
    const auto events = parse_events(text + torn.substr(0, size));
    REQUIRE(events.steps.size() == 2);
    REQUIRE(events.evals.size() == 1);
    CHECK(events.steps[0].step == 17);
    CHECK(events.steps[1].step == 18);
    CHECK(events.evals[0].step == 500);
  }
  CHECK(parse_events(text + torn).steps.size() == 3);
  CHECK(parse_events("").steps.empty());
  std::string grown = "before\n";
  append_line(grown, step_sample);
  append_line(grown, eval_sample);
  CHECK(grown == "before\n" + line_of(step_sample) + line_of(eval_sample));
}

// ---- result.json ------------------------------------------------------------------------------------------------------------

namespace {

PhaseStats stats_from(double base) { return {base, base + 0.1, base + 0.2, base + 0.3, base + 0.4, base + 0.5}; }

RunResult sample_result()
{
  RunResult result;
  result.unix_s = 1795233906.5;
  result.steps = 100;
  result.warmup_steps = 5;
  result.measured_samples = 6080;
  result.measured_s = 1.9;
  result.throughput = 3200;
  result.wall_s = 2.5;
  result.communication_share = 0.125;
  result.final_loss = 0.1;
  result.eval_loss = 0.2;
  result.accuracy = 0.98;
  result.best_accuracy = 0.985;
  result.time_to_accuracy_s = 1.75;
  result.parameters = 61706;
  result.weights_hash = "0011";
  result.isolated_communication_s = 0.001;
  result.accuracy_centre = 0.99;
  result.accuracy_worker = 0.97;
  result.accuracy_average = 0.98;
  result.staleness = {12, 1.5, 3, 4};
  result.facts = {{"allreduce", "ring" + test::nasty}};
  result.caveats = {{"samples", "batches" + test::nasty}};
  for (int rank = 0; rank < 2; ++rank) {
    RankRecord record;
    record.rank = rank;
    record.host = "node" + test::nasty;
    record.role = rank == 1 ? "server" : "worker";
    for (std::size_t i = 0; i < phase_count; ++i) record.phases[i] = stats_from(static_cast<double>(i) + rank);
    record.step = stats_from(10);
    record.bytes_sent = std::int64_t{1} << 40;
    record.messages_sent = 95;
    record.memory_peak_bytes = 123456789;
    result.ranks.push_back(record);
  }
  return result;
}

constexpr std::array number_members{&RunResult::unix_s, &RunResult::measured_s, &RunResult::throughput, &RunResult::wall_s};
constexpr std::array maybe_members{&RunResult::communication_share, &RunResult::best_accuracy,
                                   &RunResult::time_to_accuracy_s,  &RunResult::isolated_communication_s,
                                   &RunResult::accuracy_centre,     &RunResult::accuracy_worker,
                                   &RunResult::accuracy_average};
constexpr std::array reported_members{&RunResult::final_loss, &RunResult::eval_loss, &RunResult::accuracy};
constexpr std::array stats_members{&PhaseStats::total_s, &PhaseStats::mean_s, &PhaseStats::p50_s,
                                   &PhaseStats::p95_s,   &PhaseStats::p99_s,  &PhaseStats::max_s};

void check_equal(const PhaseStats& seen, const PhaseStats& wanted)
{
  for (const auto member : stats_members) CHECK(same(seen.*member, wanted.*member));
}

void check_equal(const RankRecord& seen, const RankRecord& wanted)
{
  CHECK(seen.rank == wanted.rank);
  CHECK(seen.host == wanted.host);
  CHECK(seen.role == wanted.role);
  for (std::size_t i = 0; i < phase_count; ++i) check_equal(seen.phases[i], wanted.phases[i]);
  check_equal(seen.step, wanted.step);
  CHECK(seen.bytes_sent == wanted.bytes_sent);
  CHECK(seen.messages_sent == wanted.messages_sent);
  CHECK(seen.memory_peak_bytes == wanted.memory_peak_bytes);
}

void check_equal(const RunResult& seen, const RunResult& wanted)
{
  for (const auto member : number_members) CHECK(seen.*member == wanted.*member);
  for (const auto member : maybe_members) CHECK(same(seen.*member, wanted.*member));
  for (const auto member : reported_members) {
    CHECK((seen.*member).has_value() == (wanted.*member).has_value());
    CHECK(same(or_not_measured(seen.*member), or_not_measured(wanted.*member)));
  }
  CHECK(seen.diverged_step == wanted.diverged_step);
  CHECK(seen.divergence == wanted.divergence);
  CHECK(seen.not_finite_steps == wanted.not_finite_steps);
  CHECK(seen.steps == wanted.steps);
  CHECK(seen.warmup_steps == wanted.warmup_steps);
  CHECK(seen.measured_samples == wanted.measured_samples);
  CHECK(seen.parameters == wanted.parameters);
  CHECK(seen.weights_hash == wanted.weights_hash);
  CHECK(seen.staleness.updates == wanted.staleness.updates);
  for (const auto member : {&Staleness::mean, &Staleness::p95, &Staleness::max})
    CHECK(same(seen.staleness.*member, wanted.staleness.*member));
  CHECK(seen.facts == wanted.facts);
  CHECK(seen.caveats == wanted.caveats);
  REQUIRE(seen.ranks.size() == wanted.ranks.size());
  for (std::size_t i = 0; i < seen.ranks.size(); ++i) check_equal(seen.ranks[i], wanted.ranks[i]);
}

// An attempt whose result.json holds `text`.
struct WithResult : test::Attempt {
  explicit WithResult(std::string_view text) { test::put_file(attempt.result(), text); }
};

std::optional<RunResult> read_back(const RunResult& result) { return read_result(WithResult(to_json(result)).attempt); }

} // namespace

TEST_CASE(
    "a result survives its file, every number of every rank and the buckets, also one whose ranks measured no step of a phase")
{
  auto result = sample_result();
  result.buckets = {{.bytes = 4096, .ready_s = 0.25, .lead_s = 0.125}, {.bytes = 64, .ready_s = 0.375, .lead_s = 0}};
  const auto back = read_back(result);
  REQUIRE(back);
  check_equal(*back, result);
  REQUIRE(back->buckets.size() == 2);
  CHECK(back->buckets[0].bytes == 4096);
  CHECK(back->buckets[0].ready_s == 0.25);
  CHECK(back->buckets[1].lead_s == 0);
  result.ranks[1].phases[2].p99_s = not_measured;
  result.ranks[1].step = {not_measured, not_measured, not_measured, not_measured, not_measured, not_measured};
  const auto partly = read_back(result);
  REQUIRE(partly);
  check_equal(*partly, result);
}

TEST_CASE("what was not measured is null in the file and not a number when read")
{
  RunResult result;
  result.measured_s = std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(to_json(result));
  for (const auto* name : {"final_loss", "eval_loss", "accuracy", "best_accuracy", "time_to_accuracy_s", "measured_s"}) {
    INFO(name);
    CHECK(json.at(name).is_null());
  }
  CHECK(json.at("throughput") == 0);
  const auto back = read_back(result);
  REQUIRE(back);
  CHECK_FALSE(back->accuracy);
  CHECK(std::isnan(back->time_to_accuracy_s));
  CHECK(std::isnan(back->measured_s));
  CHECK(back->throughput == 0);
}

TEST_CASE("NaN and infinity of a training that diverged survive the file of its result")
{
  auto result = sample_result();
  result.final_loss = std::nan("");
  result.eval_loss = -std::numeric_limits<double>::infinity();
  result.accuracy = std::nullopt;
  result.diverged_step = 16;
  result.divergence = "the loss is NaN from step 16 on";
  result.not_finite_steps = 4;
  const auto json = nlohmann::json::parse(to_json(result));
  CHECK(json.at("final_loss") == "NaN");
  CHECK(json.at("eval_loss") == "-inf");
  CHECK(json.at("accuracy").is_null());
  const auto back = read_back(result);
  REQUIRE(back);
  check_equal(*back, result);
}

TEST_CASE("a result's file names the phases")
{
  const auto json = nlohmann::json::parse(to_json(sample_result()));
  CHECK(json["schema"] == 1);
  for (const auto* name : {"input", "forward", "backward", "communication", "optimizer", "evaluation"})
    CHECK(json["ranks"][1]["phases"].at(name).size() == 6);
  CHECK(phase_names[static_cast<std::size_t>(Phase::communication)] == "communication");
  CHECK(phase_names[static_cast<std::size_t>(Phase::evaluation)] == "evaluation");
}

TEST_CASE("a result cut off at any length before its last bracket is no result")
{
  const auto whole = to_json(sample_result());
  REQUIRE(whole.ends_with("}\n"));
  const WithResult here("");
  for (std::size_t size = 0; size + 2 <= whole.size(); ++size) {
    test::put_file(here.attempt.result(), std::string_view(whole).substr(0, size));
    INFO(size << " of " << whole.size());
    REQUIRE_FALSE(read_result(here.attempt));
  }
}

TEST_CASE("a result that lacks any one member but the unmeasured numbers is no result")
{
  const auto whole = nlohmann::json::parse(to_json(sample_result()));
  for (const auto* name :
       {"schema", "unix_s", "steps", "warmup_steps", "measured_samples", "parameters", "weights_hash", "ranks"}) {
    auto json = whole;
    json.erase(name);
    INFO(name);
    CHECK_FALSE(read_result(WithResult(json.dump()).attempt));
  }
}

TEST_CASE("a result that the first version wrote is read, and what later versions add has its default")
{
  auto json = nlohmann::json::parse(read_file(std::filesystem::path(DTCTL_SOURCE_DIR) / "tests/golden/result-0.1.0.json"));
  const auto first = read_result(WithResult(json.dump()).attempt);
  REQUIRE(first);
  CHECK(first->throughput == json.at("throughput"));
  CHECK(first->caveats.empty());
  // Whoever adds a field must say that it comes later, or every result of before is damaged.
  for (const auto& field : result_fields()) {
    std::string pointer = "/" + std::string(field.name);
    std::ranges::replace(pointer, '.', '/');
    INFO(field.name);
    CHECK((field.presence != Presence::required || json.contains(nlohmann::json::json_pointer(pointer))));
  }
}
