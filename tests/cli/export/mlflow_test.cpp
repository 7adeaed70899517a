// dtctl export --format mlflow, against a server that is as strict as MLflow's.
#include "cli/export/http.hpp"
#include "cli/export/mlflow_server.hpp"
#include "tests/cli/export/exporting_home.hpp"
#include "tests/cli/export/tracking_server.hpp"

#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;
using Catch::Contains;

namespace {

CommandResult export_to(const ExportingHome& home, const std::string& url, const Words& environment = {})
{
  return home.run({"export", "all", "--format", "mlflow", "--to", url}, environment);
}

// The server's run of this key. Fails the test if there are several.
Json run_of(const Json& state, const std::string& key)
{
  Json found;
  for (const auto& run : state.at("runs"))
    if (run.at("tags").at("dtctl.key") == key) {
      REQUIRE(found.is_null());
      found = run;
    }
  REQUIRE(found.is_object());
  return found;
}

// Values by name and step. Fails the test if a value was logged twice.
std::map<std::string, std::map<std::int64_t, double>> metrics_of(const Json& run)
{
  std::map<std::string, std::map<std::int64_t, double>> metrics;
  for (const auto& metric : run.at("metrics")) {
    INFO(metric.dump());
    CHECK(metrics[metric.at("key")].emplace(metric.at("step"), metric.at("value")).second);
  }
  return metrics;
}

std::size_t values_in(const Json& state)
{
  std::size_t count = 0;
  for (const auto& run : state.at("runs")) count += run.at("metrics").size();
  return count;
}

std::size_t calls_of(const Json& state, const std::string& path)
{
  std::size_t count = 0;
  for (const auto& request : state.at("requests")) count += request.at("path") == path ? 1 : 0;
  return count;
}

} // namespace

TEST_CASE("the first export makes an experiment and a run for each run, with parameters, tags, curves and results")
{
  const ExportingHome home;
  const TrackingServer server(home.file("state.json"));
  const auto exported = export_to(home, server.url());
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  const auto state = server.state();
  REQUIRE(state.at("experiments").size() == 1);
  CHECK(state.at("experiments").front().at("name") == "sample");
  REQUIRE(state.at("runs").size() == 2);
  const auto run = run_of(state, home.runs[1].key);
  CHECK(run.at("name") == "sample/ranks=2/#0");
  CHECK(run.at("status") == "FINISHED");
  CHECK(run.at("start_time") == 1700000001000);
  CHECK(run.at("end_time") == 1700000100000);
  CHECK(run.at("params").at("train.global_batch") == "64");
  CHECK(run.at("params").at("ranks") == "2");
  CHECK_FALSE(run.at("params").contains("resources.env"));
  CHECK(run.at("tags").at("dtctl.study_id") == home.record.id);
  CHECK(run.at("tags").at("dtctl.state") == "succeeded");
  const auto metrics = metrics_of(run);
  CHECK(metrics.at("train/loss").size() == 20);
  CHECK(metrics.at("train/loss").at(4) == 2.5 / 4);
  CHECK(metrics.at("eval/accuracy") == std::map<std::int64_t, double>{{10, 0.9}, {20, 0.95}});
  CHECK(metrics.at("result/throughput") == std::map<std::int64_t, double>{{20, 2000}});
  CHECK_FALSE(metrics.contains("result/time_to_accuracy_s")); // it was not measured
  CHECK_THAT(exported.out, Contains("sent to        " + server.url() + "\nruns           2\nnew runs       2\n"));
  CHECK_THAT(exported.out, Contains("metric values  " + std::to_string(values_in(state))));
}

TEST_CASE("a second export adds nothing twice")
{
  const ExportingHome home;
  const TrackingServer server(home.file("state.json"));
  REQUIRE(export_to(home, server.url()).ok());
  const auto first = server.state();
  const auto again = home.json({"export", "all", "--format", "mlflow", "--to", server.url() + "/"});
  CHECK(again.at("runs") == 2);
  CHECK(again.at("new_runs") == 0);
  CHECK(again.at("metrics") == 0);
  CHECK(server.state().at("runs") == first.at("runs"));
  CHECK(server.state().at("experiments") == first.at("experiments"));
}

TEST_CASE("of a run that went on, only the new steps are sent, and then its result")
{
  const ExportingHome home;
  home.let_first_fail();
  const TrackingServer server(home.file("state.json"));
  REQUIRE(export_to(home, server.url()).ok());
  auto run = run_of(server.state(), home.runs[0].key);
  CHECK(run.at("status") == "FAILED");
  CHECK(run.at("end_time") == 1700000051000);
  CHECK(run.at("tags").at("dtctl.exported_steps") == "7");
  CHECK(run.at("tags").at("dtctl.cause") != "");
  CHECK(metrics_of(run).at("train/loss").size() == 7);
  CHECK_FALSE(metrics_of(run).contains("result/throughput"));

  home.let_first_go_on();
  REQUIRE(export_to(home, server.url()).ok());
  run = run_of(server.state(), home.runs[0].key);
  CHECK(run.at("status") == "FINISHED");
  CHECK(run.at("tags").at("dtctl.cause") == "");
  CHECK(metrics_of(run).at("train/loss").size() == 20); // metrics_of finds steps that were sent twice
  CHECK(metrics_of(run).at("eval/loss").size() == 2);
  CHECK(metrics_of(run).at("result/throughput").at(20) == 900);
  CHECK(server.state().at("runs").size() == 2);
}

TEST_CASE("a training that began anew becomes a run of its own")
{
  const ExportingHome home;
  home.let_first_fail();
  const TrackingServer server(home.file("state.json"));
  REQUIRE(export_to(home, server.url()).ok());
  home.site.succeed(home.runs[0], home.site.begin(home.runs[0], 2), 900);
  REQUIRE(export_to(home, server.url()).ok());
  const auto state = server.state();
  CHECK(state.at("runs").size() == 3);
  std::map<std::string, std::size_t> steps; // by the first attempt
  for (const auto& run : state.at("runs"))
    if (run.at("tags").at("dtctl.key") == home.runs[0].key)
      steps[run.at("tags").at("dtctl.first_attempt")] = metrics_of(run).at("train/loss").size();
  CHECK(steps == std::map<std::string, std::size_t>{{"1", 7}, {"2", 20}});
}

TEST_CASE("curves of many steps are divided into calls that the server takes, and NaN and infinite values are left out")
{
  const ExportingHome home;
  std::string lines;
  for (std::int64_t step = 1; step <= 500; ++step)
    append_line(lines, StepEvent{step, 0, 0.01 * static_cast<double>(step), step == 250 ? std::nan("") : 1.0, 0.01, 0.01, {}});
  for (const auto& run : home.runs) store::test::put_file(AttemptFolder(home.site.home.run(run.key), 1).events(), lines);
  const TrackingServer server(home.file("state.json"));
  const auto exported = export_to(home, server.url());
  INFO(exported.err);
  REQUIRE(exported.ok());
  const auto metrics = metrics_of(run_of(server.state(), home.runs[0].key));
  CHECK(metrics.at("train/loss").size() == 499);
  CHECK(metrics.at("phase/step_s").size() == 500);
  CHECK(calls_of(server.state(), "runs/log-batch") > 2 * 5);
}

TEST_CASE("an export that broke off is completed by the next one, also if only the server's answer was lost")
{
  const auto lost = GENERATE(Words{}, Words{"--store-first"});
  const std::string answered = GENERATE("0", "1"); // calls with metrics that are answered well: none, or the curve's
  const ExportingHome home;
  const auto state = home.file("state.json");
  {
    const TrackingServer server(state, with({"--answer", "runs/log-batch=500", "--after", answered, "--times", "1"}, lost));
    const auto broken = export_to(home, server.url());
    CHECK(broken.exit_code == 74);
    CHECK_THAT(broken.err,
               Contains("sample/ranks=1/#0 (run 1 of 2; the runs before it were exported): the MLflow server refused "
                        "POST /api/2.0/mlflow/runs/log-batch with HTTP status 500: INTERNAL_ERROR: the test asked for "
                        "this error \\x1b[31m; look into the server's log, and export again later; what has been sent "
                        "will not be sent again"));
    CHECK(broken.out.empty());
    CHECK(calls_of(server.state(), "runs/update") == 0);
  }
  const TrackingServer server(state);
  REQUIRE(export_to(home, server.url()).ok());
  for (const auto& run : home.runs) {
    const auto metrics = metrics_of(run_of(server.state(), run.key)); // finds metrics that were sent twice
    CHECK(metrics.at("train/loss").size() == 20);
    CHECK(metrics.at("result/throughput").size() == 1);
  }
}

TEST_CASE("calls that change nothing twice are repeated while the server is overloaded, and no others")
{
  const ExportingHome home;
  const TrackingServer server(home.file("state.json"), {"--answer", "experiments/get-by-name=503", "--times", "1"});
  REQUIRE(export_to(home, server.url()).ok());
  CHECK(calls_of(server.state(), "experiments/get-by-name") == 2);
  const TrackingServer other(home.file("other.json"), {"--answer", "runs/create=503", "--times", "1"});
  CHECK(export_to(home, other.url()).exit_code == 74);
  CHECK(calls_of(other.state(), "runs/create") == 1);
}

TEST_CASE("a server that is down ends the export with exit code 74, and the message says which and what to do")
{
  const ExportingHome home;
  TrackingServer server(home.file("state.json"));
  server.end();
  const auto exported = export_to(home, server.url());
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err,
             Contains("GET " + server.url() + "/api/2.0/mlflow/experiments/get-by-name?experiment_name=sample: (7)") &&
                 Contains("Is the server running, and is its URL right? Export again when it answers."));
  CHECK(exported.out.empty());
}

TEST_CASE("an answer without an end is given up after 64 MiB")
{
  const ExportingHome home;
  const TrackingServer server(home.file("state"), {"--answer", "experiments/get-by-name=0"});
  const auto exported = export_to(home, server.url());
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err, Contains("the answer has more than 64 MiB, so it does not come from an MLflow server"));
}

TEST_CASE("credentials are taken from MLflow's variables, and a refusal says which to set without showing them")
{
  const ExportingHome home;
  const std::string token = "to\"ken\\secret #1", token_variable = "MLFLOW_TRACKING_TOKEN=" + token;
  const TrackingServer server(home.file("state.json"), {"--token", token});
  const auto without = export_to(home, server.url());
  CHECK(without.exit_code == 74);
  CHECK_THAT(without.err, Contains("with HTTP status 401: You are not authenticated.; set MLFLOW_TRACKING_TOKEN, or "
                                   "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"));
  const auto wrong = export_to(home, server.url(), {"MLFLOW_TRACKING_TOKEN=wr0ng"});
  CHECK(wrong.exit_code == 74);
  CHECK((wrong.out + wrong.err).find("wr0ng") == std::string::npos);
  const auto right = export_to(home, server.url(), {token_variable});
  INFO(right.err);
  CHECK(right.exit_code == 0);
  CHECK((right.out + right.err).find("secret") == std::string::npos);

  const TrackingServer basic(home.file("basic.json"), {"--user", "me", "--password", "p:\"w"});
  CHECK(export_to(home, basic.url(), {token_variable}).exit_code == 74);
  CHECK(export_to(home, basic.url(), {"MLFLOW_TRACKING_USERNAME=me", "MLFLOW_TRACKING_PASSWORD=p:\"w", token_variable}).ok());
}

TEST_CASE("credentials stand on no command line and in no file")
{
  const ExportingHome home;
  // In place of curl: keeps what it was started with and what it was given, and answers nothing.
  std::filesystem::create_directory(home.file("bin"));
  store::test::put_file(home.file("bin") / "curl", "#!/bin/sh\nprintf '%s ' \"$@\" >" + home.file("words").string() + "\ncat >" +
                                                       home.file("input").string() + "\nls -lR " + home.file("tmp").string() +
                                                       " >" + home.file("files").string() + "\nexit 7\n");
  std::filesystem::permissions(home.file("bin") / "curl", std::filesystem::perms(0755));
  std::filesystem::create_directory(home.file("tmp"));
  const auto exported = export_to(home, "http://127.0.0.1:1",
                                  {"PATH=" + home.file("bin").string() + ":/usr/bin:/bin", "MLFLOW_TRACKING_TOKEN=hunter2",
                                   "TMPDIR=" + home.file("tmp").string()});
  CHECK(exported.exit_code == 74);
  CHECK(read_file(home.file("words")) == "-q --config - ");
  CHECK_THAT(read_file(home.file("input")), Contains("header = \"Authorization: Bearer hunter2\"\n"));
  CHECK_THAT(read_file(home.file("files")), Contains("drwx------") && Contains("dtctl-export-"));
  CHECK(listed(home.file("tmp")).empty()); // nothing is left behind
}

TEST_CASE("a variable with a line feed is refused, because the line would become a setting of its own")
{
  const ExportingHome home;
  const auto refused = export_to(home, "http://127.0.0.1:1", {"MLFLOW_TRACKING_TOKEN=a\"\nurl = \"http://elsewhere"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("dtctl: error: MLFLOW_TRACKING_TOKEN holds a control character, such as a line feed at its "
                                   "end; set it again\n"));
}

TEST_CASE("where curl is missing, the message says what to install")
{
  const ExportingHome home;
  std::filesystem::create_directory(home.file("empty"));
  const auto exported = export_to(home, "http://127.0.0.1:1", {"PATH=" + home.file("empty").string()});
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err, Contains("the program curl, which sends HTTP requests, is not installed; install it (Debian: apt-get "
                                    "install curl)"));
}

TEST_CASE("URLs that no server has are usage errors, and a password in a URL is not shown")
{
  CHECK(cli::checked_url("http://127.0.0.1:5000") == "http://127.0.0.1:5000");
  CHECK(cli::checked_url("https://mlflow.example.org/tracking//") == "https://mlflow.example.org/tracking");
  CHECK(cli::checked_url("http://[::1]:5000/") == "http://[::1]:5000");
  const ExportingHome home;
  for (const auto* url : {"ftp://x", "x:5000", "file:///etc/passwd", "http://", "http:///x", "http://:5000", "http://a b",
                          "http://x/?y", "http://x/#y", "http://x\nurl = \"http://y", "http://x\"", "HTTP//x", ""}) {
    INFO(url);
    CHECK(export_to(home, url).exit_code == 2);
  }
  const auto refused = export_to(home, "https://me:hunter2@x");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, !Contains("hunter2") && Contains("MLFLOW_TRACKING_PASSWORD"));
}

TEST_CASE("hostile names reach the server as they are, and the second export finds them again")
{
  const ExportingHome home(hostile_name);
  const TrackingServer server(home.file("state.json"));
  for (int i = 0; i < 2; ++i) {
    const auto exported = export_to(home, server.url());
    INFO(exported.err);
    REQUIRE(exported.ok());
  }
  const auto state = server.state();
  REQUIRE(state.at("experiments").size() == 1);
  CHECK(state.at("experiments").front().at("name") == hostile_name);
  CHECK(state.at("runs").size() == 2);
  CHECK(run_of(state, home.runs[0].key).at("tags").at("dtctl.study") == hostile_name);
}

TEST_CASE("an experiment that is deleted on the server gets no runs, and the message says so")
{
  const ExportingHome home;
  store::test::put_file(
      home.file("state.json"),
      R"({"experiments": {"1": {"experiment_id": "1", "name": "sample", "lifecycle_stage": "deleted"}}, "runs": {}})");
  const TrackingServer server(home.file("state.json"));
  const auto exported = export_to(home, server.url());
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err,
             Contains("the experiment sample is deleted on the MLflow server; restore it there, or delete it for good"));
  CHECK(server.state().at("runs").empty());
}

TEST_CASE("an address that is no tracking server is told as such")
{
  const ExportingHome home;
  const TrackingServer server(home.file("state.json"));
  const auto exported = export_to(home, server.url() + "/elsewhere");
  CHECK(exported.exit_code == 74);
  CHECK_THAT(exported.err, Contains("with HTTP status 404; is the URL of --to that of an MLflow tracking server?"));
}

TEST_CASE("a text is cut between two characters, and bytes that are no UTF-8 are written as such")
{
  CHECK(cli::clipped("abc", 3) == "abc");
  CHECK(cli::clipped("abcd", 3) == "abc");
  CHECK(cli::clipped("ab\xc3\xa4", 3) == "ab");
  CHECK(cli::clipped("ab\xc3\xa4", 4) == "ab\xc3\xa4");
  CHECK(cli::clipped("\xff", 10) == "\\xff");
  CHECK(cli::percent_encoded("a b/ä") == "a%20b%2F%C3%A4");
}
