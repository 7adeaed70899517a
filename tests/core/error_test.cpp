#include "core/error.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <vector>

using namespace dt;

TEST_CASE("exit codes are frozen: scripts depend on them")
{
  CHECK(static_cast<int>(ExitCode::ok) == 0);
  CHECK(static_cast<int>(ExitCode::runs_failed) == 1);
  CHECK(static_cast<int>(ExitCode::usage) == 2);
  CHECK(static_cast<int>(ExitCode::scheduler_unreachable) == 3);
  CHECK(static_cast<int>(ExitCode::partly_submitted) == 4);
  CHECK(static_cast<int>(ExitCode::regression) == 5);
  CHECK(static_cast<int>(ExitCode::internal) == 70);
  CHECK(static_cast<int>(ExitCode::environment) == 74);
  CHECK(static_cast<int>(ExitCode::wait_timed_out) == 124);
}

TEST_CASE("every kind of error has its exit code and its name")
{
  struct Row {
    ErrorKind kind;
    ExitCode code;
    std::string_view name;
  };
  for (const auto& row : std::vector<Row>{{ErrorKind::usage, ExitCode::usage, "usage"},
                                          {ErrorKind::recipe, ExitCode::usage, "recipe"},
                                          {ErrorKind::scheduler, ExitCode::scheduler_unreachable, "scheduler"},
                                          {ErrorKind::run, ExitCode::runs_failed, "run"},
                                          {ErrorKind::environment, ExitCode::environment, "environment"},
                                          {ErrorKind::internal, ExitCode::internal, "internal"}}) {
    CHECK(exit_code_of(row.kind) == row.code);
    CHECK(name_of(row.kind) == row.name);
  }
}

TEST_CASE("an error keeps its kind and its text, context goes before the message, and a system error is the environment's")
{
  const Error inner(ErrorKind::recipe, "no such model"), outer = inner.within("line 3").within("lenet.yaml");
  CHECK(std::string(static_cast<const std::runtime_error&>(inner).what()) == "no such model");
  CHECK(std::string(outer.what()) == "lenet.yaml: line 3: no such model");
  CHECK(outer.kind() == ErrorKind::recipe);
  const Error full = system_error("open /x/y", ENOSPC);
  CHECK(std::string(full.what()) == "open /x/y: No space left on device");
  CHECK(full.kind() == ErrorKind::environment);
}
