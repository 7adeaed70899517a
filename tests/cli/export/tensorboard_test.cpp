// dtctl export --format tensorboard: the event files, read by programs that share no code with dtctl.
#include "tests/cli/export/exporting_home.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;
namespace fs = std::filesystem;

namespace {

CommandResult read_events(const fs::path& file)
{
  return run_command({"/usr/bin/python3", DTCTL_SOURCE_DIR "/tests/support/read_event_file.py", file.string()}, 60);
}

Json events_of(const fs::path& file)
{
  const auto result = read_events(file);
  INFO(result.err);
  REQUIRE(result.ok());
  return Json::parse(result.out);
}

CommandResult export_to(const ExportingHome& home, const std::string& folder, const Words& more = {})
{
  return home.run(with({"export", "all", "--format", "tensorboard", "-o", folder}, more));
}

// The only event file of a run's folder.
fs::path only_file(const fs::path& folder)
{
  const auto names = names_in(folder);
  REQUIRE(names.size() == 1);
  return folder / names[0];
}

// The folder of the run in `boards`, by the digits of its key.
fs::path folder_of_run(const fs::path& boards, const std::string& key)
{
  for (const auto& name : names_in(boards))
    if (name.ends_with("-" + key.substr(0, 10))) return boards / name;
  FAIL("no folder for " << key);
  return {};
}

struct Value {
  double value = 0, unix_s = 0;
};

// Values by curve and step.
std::map<std::string, std::map<std::int64_t, Value>> curves_of(const Json& events)
{
  std::map<std::string, std::map<std::int64_t, Value>> curves;
  for (const auto& event : events)
    for (const auto& value : event.value("values", Json::array())) {
      const auto step = event.at("step").get<std::int64_t>();
      auto& curve = curves[value.at("tag")];
      CHECK_FALSE(curve.contains(step));
      CHECK(value.at("plugin").is_null() == !curve.empty()); // the first value of a curve names the plugin
      curve[step] = {value.at("value"), event.at("wall_time")};
    }
  return curves;
}

std::map<std::string, std::string> bytes_below(const fs::path& folder)
{
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path());
  return files;
}

} // namespace

TEST_CASE("an event file holds every step and evaluation of its run, as the database does")
{
  const ExportingHome home;
  const auto exported = export_to(home, "boards");
  CHECK(exported.exit_code == 0);
  CHECK(exported.out == "written to  boards\nruns        2\n");
  CHECK(names_in(home.file("boards")).size() == 2);
  for (const auto& run : home.runs) {
    const auto file = only_file(folder_of_run(home.file("boards"), run.key));
    CHECK(file.filename() == "events.out.tfevents.1700000001.dtctl");
    const auto events = events_of(file);
    CHECK(events[0] == Json{{"wall_time", 1700000001.0}, {"step", 0}, {"version", "brain.Event:2"}});
    CHECK(events.size() == 1 + 20 + 2);
    const auto curves = curves_of(events);
    CHECK(curves.size() == 11);
    const std::map<std::string, std::string> columns{{"train/loss", "loss"},
                                                     {"train/learning_rate", "learning_rate"},
                                                     {"throughput/samples_per_s", "64 / step_s"},
                                                     {"phase/step_s", "step_s"},
                                                     {"phase/input_s", "input_s"},
                                                     {"phase/forward_s", "forward_s"},
                                                     {"phase/backward_s", "backward_s"},
                                                     {"phase/communication_s", "communication_s"},
                                                     {"phase/optimizer_s", "optimizer_s"}};
    const auto check = [&](const std::string& tag, const std::string& column, const std::string& table) {
      INFO(tag);
      const auto rows = home.ask("SELECT step, " + column + " AS value, elapsed_s FROM " + table +
                                 " JOIN runs ON runs.id = run_id WHERE key = '" + run.key + "'");
      REQUIRE(curves.at(tag).size() == rows.size());
      for (const auto& row : rows) {
        const auto found = curves.at(tag).at(row.at("step"));
        CHECK(static_cast<float>(found.value) == static_cast<float>(row.at("value").get<double>()));
        CHECK(found.unix_s == 1700000001 + row.at("elapsed_s").get<double>());
      }
    };
    for (const auto& [tag, column] : columns) check(tag, column, "steps");
    check("eval/loss", "loss", "evals");
    check("eval/accuracy", "accuracy", "evals");
  }
}

TEST_CASE("an export that is repeated gives equal bytes, and one of a run that began anew replaces the file of another name")
{
  const ExportingHome home;
  REQUIRE(export_to(home, "boards").ok());
  const auto first = bytes_below(home.file("boards"));
  REQUIRE(export_to(home, "boards").ok());
  CHECK(bytes_below(home.file("boards")) == first);

  const auto attempt = home.site.begin(home.runs[0], 2);
  auto begin = read_begin(attempt).value();
  begin.unix_s = 1700009999;
  store::test::put_file(attempt.begin(), to_json(begin));
  home.site.succeed(home.runs[0], attempt, 900);
  fs::remove(home.site.home.database());
  const auto own = folder_of_run(home.file("boards"), home.runs[0].key);
  store::test::put_file(own / "events.out.tfevents.1700000001.another-writer", "kept");
  REQUIRE(export_to(home, "boards").ok());
  CHECK(listed(own) ==
        std::vector<std::string>{"events.out.tfevents.1700000001.another-writer", "events.out.tfevents.1700009999.dtctl"});
}

TEST_CASE("a run that was resumed has each step once in its event file, and the steps that were repeated are the later ones")
{
  const ExportingHome home;
  home.let_first_fail();
  home.let_first_go_on();
  REQUIRE(export_to(home, "boards").ok());
  const auto curves = curves_of(events_of(only_file(folder_of_run(home.file("boards"), home.runs[0].key))));
  const auto& loss = curves.at("train/loss");
  REQUIRE(loss.size() == 20);
  CHECK(loss.at(5).unix_s == Approx(1700000001 + 0.05).epsilon(1e-12));
  CHECK(loss.at(6).unix_s == Approx(1700003601 + 0.01).epsilon(1e-12));
  CHECK(loss.at(7).unix_s > 1700003601);
}

TEST_CASE("a loss that is NaN stays NaN, and a run without steps has no event file")
{
  const ExportingHome home;
  const AttemptFolder attempt(home.site.home.run(home.runs[0].key), 1);
  std::string lines;
  append_line(lines, StepEvent{1, 0.1, 0.01, std::numeric_limits<double>::quiet_NaN(), 0.01, 0.01, {}});
  store::test::put_file(attempt.events(), lines);
  store::test::put_file(AttemptFolder(home.site.home.run(home.runs[1].key), 1).events(), "");
  const auto exported = export_to(home, "boards");
  CHECK(exported.out == "written to     boards\nruns           1\nwithout steps  1\n");
  CHECK(listed(home.file("boards")).size() == 1);
  const auto file = only_file(folder_of_run(home.file("boards"), home.runs[0].key));
  CHECK(read_events(file).out.find("{\"tag\": \"train/loss\", \"value\": NaN, \"plugin\": \"scalars\"}") != std::string::npos);
}

TEST_CASE("hostile names become folder names of harmless characters below the given folder, and no two runs share one")
{
  const auto name =
      GENERATE(hostile_name, std::string("../../up"), std::string("-rf"), std::string("/etc"), std::string(300, 'x'));
  const ExportingHome home(name);
  const auto exported = export_to(home, "boards");
  INFO(exported.err);
  REQUIRE(exported.ok());
  const auto names = listed(home.file("boards"));
  CHECK(names.size() == 2);
  for (const auto& folder : names) {
    INFO(folder);
    CHECK(folder.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=,+.-_") == std::string::npos);
    CHECK(folder.find_first_of("-.") != 0);
    CHECK(folder.size() < 200);
    CHECK(only_file(home.file("boards") / folder).filename() == "events.out.tfevents.1700000001.dtctl");
  }
}

TEST_CASE("a folder that cannot be made ends the export with exit code 74, and its name is told")
{
  const ExportingHome home;
  store::test::put_file(home.file("taken"), "a file");
  const auto exported = export_to(home, "taken");
  CHECK(exported.exit_code == 74);
  CHECK(exported.err.ends_with("dtctl: error: make folder taken: Not a directory\n"));
  CHECK(read_file(home.file("taken")) == "a file");
}
