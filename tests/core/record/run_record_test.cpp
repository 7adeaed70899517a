#include "core/record/run_record.hpp"

#include "tests/core/error_of.hpp"
#include "tests/core/put_file.hpp"
#include "tests/core/record/attempt.hpp"
#include "tests/core/sample_spec.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace dt;
namespace fs = std::filesystem;
using test::Attempt;
using test::error_of;
using test::message_of;
using test::TemporaryFolder;

namespace {

PlannedRun sample_run(int number)
{
  RunSpec spec;
  for (const auto& key : spec_keys())
    if (key.field != nullptr) set_value(spec, key, test::another_value(key, default_of(key), number));
  spec.label = "sync.strategy=sync-sgd " + test::nasty;
  spec.repeat = number;
  return plan_run(spec, "build", "data");
}

void check_equal(const PlannedRun& seen, const PlannedRun& wanted)
{
  CHECK(seen.key == wanted.key);
  CHECK(seen.engine_build == wanted.engine_build);
  CHECK(seen.data_id == wanted.data_id);
  CHECK(seen.spec.label == wanted.spec.label);
  CHECK(seen.spec.repeat == wanted.spec.repeat);
  for (const auto& key : spec_keys()) {
    if (key.field == nullptr) continue;
    INFO(key.path);
    CHECK((value_of(seen.spec, key) == value_of(wanted.spec, key)));
  }
}

std::string json_with(const std::string& text, const char* member, const nlohmann::json& value)
{
  auto json = nlohmann::json::parse(text);
  json[member] = value;
  return json.dump();
}

} // namespace

TEST_CASE("attempts are numbered as numbers, not as texts, and foreign names are left out")
{
  const TemporaryFolder folder;
  CHECK(attempt_numbers(folder.path()).empty());
  for (const auto* name : {"1", "10", "2", "9", "0", "-1", "+3", "x", "3x", "x3", "01", "1.5", ".4", " 5", "99999999999999"})
    make_folders(folder.path() / "attempts" / name);
  CHECK(attempt_numbers(folder.path()) == std::vector<int>{1, 2, 9, 10});
}

// ---- spec.json -----------------------------------------------------------------------------------------------------------

TEST_CASE(
    "every key of a spec, or of an empty one, survives spec.json, nasty texts included, with the key that it still hashes to")
{
  const TemporaryFolder folder;
  for (const auto& run : {sample_run(1), sample_run(2), sample_run(3), plan_run(RunSpec{}, "", "")}) {
    test::put_file(spec_path(folder.path()), to_json(run));
    const auto back = read_planned_run(folder.path());
    check_equal(back, run);
    CHECK(run_key(back.spec, back.engine_build, back.data_id) == run.key);
    check_equal(parse_planned_run(to_json(run), "here"), run);
  }
}

TEST_CASE("what a run starts from survives spec.json, and is not mentioned where there is nothing")
{
  const auto run = plan_run(RunSpec{}, "build", "data", "0123");
  CHECK(parse_planned_run(to_json(run), "here").start_id == "0123");
  const auto own = plan_run(RunSpec{}, "build", "data", "", "4567");
  CHECK(parse_planned_run(to_json(own), "here").environment_id == "4567");
  CHECK(to_json(run).find("environment_id") == std::string::npos);
  CHECK(to_json(plan_run(RunSpec{}, "build", "data")).find("start_id") == std::string::npos);
}

TEST_CASE("spec.json nests the keys by block as a recipe does, one that is missing has its default, and one of a newer version "
          "is passed over")
{
  auto json = nlohmann::json::parse(to_json(sample_run(1)));
  CHECK(json["schema"] == 1);
  CHECK(json["train"]["seed"] == 2);
  CHECK(json["resources"]["env"]["A"].get<std::string>().empty());
  CHECK(json["resources"]["time_limit"] == 3601);
  check_equal(parse_planned_run(json_with(json.dump(), "invented_later", {{"a", 1}}), "here"), sample_run(1));
  json["train"].erase("seed");
  json.erase("optimizer");
  const auto back = parse_planned_run(json.dump(), "here");
  CHECK(back.spec.train.seed == 1);
  CHECK(back.spec.optimizer.name == "momentum");
}

TEST_CASE("a spec.json that is missing, torn, not ours or with a wrong member is refused by name")
{
  const TemporaryFolder folder;
  const auto path = spec_path(folder.path()).string();
  CHECK(message_of([&] { read_planned_run(folder.path()); }) == "read " + path + ": No such file or directory");
  struct Row {
    std::string text;
    const char* refusal;
  };
  const auto good = to_json(sample_run(1));
  const auto foreign = " is not a run's spec of format 1", damaged = " is damaged: ";
  for (const auto& [text, refusal] :
       std::vector<Row>{{"", foreign},
                        {"{", foreign},
                        {"[]", foreign},
                        {"null", foreign},
                        {"{}", foreign},
                        {R"({"schema": 0})", foreign},
                        {R"({"schema": "1"})", foreign},
                        {R"({"schema": null})", foreign},
                        {R"({"schema": 2})", " was written by a later dtctl (schema 2; this one reads 1)"},
                        {R"({"schema": 1})", damaged},
                        {json_with(good, "key", 7), damaged},
                        {json_with(good, "train", {{"seed", "one"}}), damaged},
                        {json_with(good, "resources", {{"env", {1, 2}}}), damaged}}) {
    INFO(text);
    test::put_file(path, text);
    const auto error = error_of([&] { read_planned_run(folder.path()); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Catch::StartsWith(path + refusal));
  }
}

// ---- submission, error, begin: JSON records --------------------------------------------------------------------------------

TEST_CASE("a submission survives its file, with and without the job's id")
{
  const Attempt here;
  Submission submission{3, "token", "local", "study", 1795233906.125, GENERATE(as<std::string>{}, "", "4711", test::nasty)};
  submission.git_state = "4f3a (main), clean";
  test::put_file(here.attempt.submission(), to_json(submission));
  const auto back = read_submission(here.attempt);
  REQUIRE(back);
  CHECK(back->attempt == 3);
  CHECK(back->token == "token");
  CHECK(back->scheduler == "local");
  CHECK(back->study == "study");
  CHECK(back->submitted_unix_s == 1795233906.125);
  CHECK(back->job_id == submission.job_id);
  CHECK(back->git_state == submission.git_state);
}

TEST_CASE("a rank's error survives its file, and bytes of its cause that are not UTF-8 are replaced, not fatal")
{
  const Attempt here;
  test::put_file(here.attempt.error(), to_json(RankError{7, "node1", "torn \xFF name: " + test::nasty, 12, 1795233906.5}));
  const auto back = read_error(here.attempt);
  REQUIRE(back);
  CHECK(back->rank == 7);
  CHECK(back->host == "node1");
  CHECK(back->cause == "torn \xEF\xBF\xBD name: " + test::nasty);
  CHECK(back->step == 12);
  CHECK(back->unix_s == 1795233906.5);
}

TEST_CASE("a begin record survives its file")
{
  const Attempt here;
  BeginRecord begin{1795233906.5, "node1", 4711, 4, 2, 3, {"node1", "node1", "node2", "node2"}, {"0-2", "3-5", "0-2", "3-5"}, {}};
  begin.environment = {{"cpu_model", "any"}, {"mpi_version", test::nasty}};
  test::put_file(here.attempt.begin(), to_json(begin));
  const auto back = read_begin(here.attempt);
  REQUIRE(back);
  CHECK(back->unix_s == begin.unix_s);
  CHECK(back->host == begin.host);
  CHECK(back->pid == begin.pid);
  CHECK(back->ranks == begin.ranks);
  CHECK(back->nodes == begin.nodes);
  CHECK(back->threads_per_rank == begin.threads_per_rank);
  CHECK(back->rank_hosts == begin.rank_hosts);
  CHECK(back->rank_masks == begin.rank_masks);
  CHECK(back->environment == begin.environment);
}

TEST_CASE("a record that is missing, of another format or of wrong types is none, never a crash")
{
  const Attempt here;
  const auto text =
      GENERATE(as<std::string>{}, "", "[]", "null", "7", "{}", R"({"schema": 2})", R"({"schema": 1})", R"({"schema": "1"})",
               R"({"schema": null})", R"({"schema": {}})", R"({"schema": 1, "rank": "x", "unix_s": "y", "attempt": []})");
  INFO(text);
  for (const auto& path : {here.attempt.submission(), here.attempt.error(), here.attempt.begin(), here.attempt.result()})
    test::put_file(path, text);
  CHECK_FALSE(read_submission(here.attempt));
  CHECK_FALSE(read_error(here.attempt));
  CHECK_FALSE(read_begin(here.attempt));
  CHECK_FALSE(read_result(here.attempt));
  const Attempt missing;
  CHECK_FALSE(read_submission(missing.attempt));
  CHECK_FALSE(read_error(missing.attempt));
  CHECK_FALSE(read_begin(missing.attempt));
  CHECK_FALSE(read_end(missing.attempt));
  CHECK_FALSE(read_heartbeat(missing.attempt));
  CHECK_FALSE(read_result(missing.attempt));
  CHECK_FALSE(read_begin(AttemptFolder(fs::path("/none/such"), 1)));
}

TEST_CASE("a begin record or submission cut off anywhere before its last bracket is none")
{
  const Attempt here;
  const auto begin = to_json(BeginRecord{1, "h", 1, 1, 1, 1, {"h"}, {"0"}, {{"a", "b"}}}),
             submission = to_json(Submission{1, "t", "local", "s", 1, "j"});
  for (std::size_t size = 0; size + 2 <= std::max(begin.size(), submission.size()); ++size) {
    test::put_file(here.attempt.begin(), begin.substr(0, std::min(size, begin.size() - 2)));
    REQUIRE_FALSE(read_begin(here.attempt));
    test::put_file(here.attempt.submission(), submission.substr(0, std::min(size, submission.size() - 2)));
    REQUIRE_FALSE(read_submission(here.attempt));
  }
}

// ---- end, heartbeat: lines -------------------------------------------------------------------------------------------------

TEST_CASE("the end that a job script writes is read, and one that is torn or foreign is none")
{
  const Attempt here;
  test::put_file(here.attempt.end(), "exit 137 1795233906.250000000\n");
  const auto end = read_end(here.attempt);
  REQUIRE(end);
  CHECK(end->exit_code == 137);
  CHECK(end->unix_s == 1795233906.25);
  test::put_file(here.attempt.end(), "exit 0 1795233906\n");
  CHECK(read_end(here.attempt)->exit_code == 0);
  const auto text =
      GENERATE(as<std::string>{}, "", "e", "exit", "exit ", "exit 0", "exit 0\n", "exit 0 17952339", "exit x 1\n", "exit \n",
               "exit 0 x\n", "Exit 0 1\n", "exit 0 1795233906 more\n", "exit0 1\n", "\n", "exit 99999999999 1\n");
  INFO(text);
  test::put_file(here.attempt.end(), text);
  CHECK_FALSE(read_end(here.attempt));
}

TEST_CASE("a heartbeat survives its file, and one cut off anywhere, or foreign, is none")
{
  const Attempt here;
  const auto whole = to_line(Heartbeat{1795233906.25, 17, 4000});
  CHECK(whole == "beat 1795233906.250000000 17 4000\n");
  test::put_file(here.attempt.heartbeat(), whole);
  const auto beat = read_heartbeat(here.attempt);
  REQUIRE(beat);
  CHECK(beat->unix_s == 1795233906.25);
  CHECK(beat->step == 17);
  CHECK(beat->steps == 4000);
  std::vector<std::string> torn{"beat x 1 2\n", "beat 1 2\n", "beet 1 2 3\n", "beat 1 2 3 4\n", "beat 1 2.5 3\n"};
  for (std::size_t size = 0; size < whole.size(); ++size) torn.push_back(whole.substr(0, size));
  for (const auto& text : torn) {
    INFO(text);
    test::put_file(here.attempt.heartbeat(), text);
    CHECK_FALSE(read_heartbeat(here.attempt));
  }
}

// ---- states ------------------------------------------------------------------------------------------------------------------

TEST_CASE("the names of the states are frozen, each is read back, and what is no state's name is none")
{
  const std::vector<std::string_view> names{"planned", "submitted", "queued",    "running",   "suspended", "succeeded",
                                            "failed",  "cancelled", "timed_out", "preempted", "lost",      "unknown"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(name_of(static_cast<RunState>(i)) == names[i]);
    CHECK(run_state_of(names[i]) == static_cast<RunState>(i));
  }
  CHECK(static_cast<std::size_t>(RunState::unknown) + 1 == names.size());
  for (const auto* name : {"", "Running", "run", "running ", "TIMEOUT"}) CHECK_FALSE(run_state_of(name));
}

TEST_CASE("nothing more happens to a run that succeeded, failed, was cancelled, timed out, was preempted or is lost")
{
  const std::set<RunState> final_states{RunState::succeeded, RunState::failed,    RunState::cancelled,
                                        RunState::timed_out, RunState::preempted, RunState::lost};
  for (int i = 0; i <= static_cast<int>(RunState::unknown); ++i)
    CHECK(is_final(static_cast<RunState>(i)) == (final_states.count(static_cast<RunState>(i)) == 1));
}
