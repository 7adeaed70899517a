// A home with a program of the user, for the tests of such programs.
#pragma once

#include "core/record/claim.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/python.hpp"

#include <filesystem>
#include <string>

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
