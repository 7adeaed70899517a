// A home with a program of the user, for the tests of such programs.
#pragma once

#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/python.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::test {

inline std::string recipe(const std::string& more = "", const std::string& program = "")
{
  return "version: 1\nname: own\nprogram:\n  command: [python3, train.py]\n  files: [train.py]\n" + program + more;
}

// A home with train.py.
struct Own {
  Dtctl dtctl;
  explicit Own(const std::string& source, const std::string& recipe_text = recipe())
  {
    dtctl.write("train.py", source);
    dtctl.write("own.yaml", recipe_text);
  }
  ~Own() { dtctl.run({"cancel", "all"}); }
  Json submit(const std::string& verb = "submit") const { return dtctl.json({verb, "own.yaml", "--wait"}); }
  Json run() const { return dtctl.json({"status"}).at("runs")[0]; }
  std::string state() const { return run().at("state"); }
  std::string cause() const { return run().at("cause"); }
  std::filesystem::path run_folder() const
  {
    for (const auto& entry : std::filesystem::directory_iterator(dtctl.home() / "runs")) return entry.path();
    return {};
  }
  AttemptFolder attempt() const { return {run_folder(), attempt_numbers(run_folder()).back()}; }
  // Processes that the job has left behind.
  std::size_t left_behind() const
  {
    const auto submission = read_submission(attempt());
    return submission ? processes_with_token(submission->token).size() : 0;
  }
};

// Programs, NAME.py each, that run as the runs of one study. `more`: blocks of the recipe; `program`: lines of its block
// `program`.
class Programs {
 public:
  explicit Programs(const std::map<std::string, std::string>& sources, const std::string& more = "",
                    const std::string& interpreter = "python3", const std::string& program = "")
      : own_("", "")
  {
    std::vector<std::string> names, files;
    for (const auto& [name, source] : sources) {
      names.push_back(name);
      files.push_back(own_.dtctl.write(name + ".py", source).filename());
    }
    own_.dtctl.write("own.yaml", "version: 1\nname: own\nprogram:\n  command: [" + interpreter +
                                     ", \"{program.parameters.name}.py\"]\n  files: [" + join(files, ", ") +
                                     "]\n  parameters: {name: none}\n" + program + "sweep: {matrix: {program.parameters.name: [" +
                                     join(names, ", ") + "]}}\n" + more);
    own_.dtctl.json({"sweep", "own.yaml", "--keep-going"});
    constexpr int out_of_time = 124; // a command of the tests may take 100 seconds, all programs together may take longer
    while (own_.dtctl.run({"status", "--follow", "own", "--timeout", "60s"}).exit_code == out_of_time) continue;
    states_ = own_.dtctl.json({"status", "own"}).at("states");
    for (const auto& entry : std::filesystem::directory_iterator(own_.dtctl.home() / "runs"))
      attempts_.emplace(read_planned_run(entry.path()).spec.program.parameters.at("name"), AttemptFolder(entry.path(), 1));
  }
  const Json& states() const { return states_; }
  const AttemptFolder& attempt(const std::string& name) const { return attempts_.at(name); }
  RunResult result(const std::string& name) const
  {
    const auto result = read_result(attempt(name));
    if (!result) FAIL(name << ": " << cause(name) << "\n" << log(name));
    return *result;
  }
  std::string log(const std::string& name) const { return own_.dtctl.run({"logs", key(name)}).out; }
  std::string cause(const std::string& name) const { return own_.dtctl.json({"status", key(name)}).at("runs")[0].at("cause"); }

 private:
  std::string key(const std::string& name) const { return attempt(name).run_folder().filename(); }

  Own own_;
  Json states_;
  std::map<std::string, AttemptFolder> attempts_;
};

// Submits the recipe, which must succeed.
inline RunResult result_of(const Own& own)
{
  const auto outcome = own.submit();
  INFO(outcome.dump() << own.dtctl.run({"logs", "own"}).out);
  REQUIRE(outcome.at("states") == Json{{"succeeded", 1}});
  const auto result = read_result(own.attempt());
  REQUIRE(result);
  return *result;
}

// Reports `steps` steps of 10 samples, and a result. Its ranks are connected, and have losses of their own.
inline std::string trainer(const std::string& more = "", int steps = 8)
{
  return "import dtctl_report as report, os, signal, sys, time\n" + more + connects + "\nreport.begin()\nfor i in range(" +
         std::to_string(steps) +
         "):\n    time.sleep(0.002)\n    report.step(loss=1.0 / (i + 1) + rank, samples=10)\n"
         "report.evaluation(accuracy=0.75, samples=100)\nreport.result(parameters=5)\n";
}

} // namespace dt::test
