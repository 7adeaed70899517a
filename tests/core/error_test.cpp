#include "core/error.hpp"

#include <catch2/catch.hpp>

#include <cerrno>

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
  const auto row = GENERATE(Row{ErrorKind::usage, ExitCode::usage, "usage"}, Row{ErrorKind::recipe, ExitCode::usage, "recipe"},
                            Row{ErrorKind::scheduler, ExitCode::scheduler_unreachable, "scheduler"},
                            Row{ErrorKind::run, ExitCode::runs_failed, "run"},
                            Row{ErrorKind::environment, ExitCode::environment, "environment"},
                            Row{ErrorKind::internal, ExitCode::internal, "internal"});
  CHECK(exit_code_of(row.kind) == row.code);
  CHECK(name_of(row.kind) == row.name);
}

TEST_CASE("an error keeps its kind and its text, and is a std::runtime_error")
{
  const Error error(ErrorKind::scheduler, "squeue does not answer; try again later");
  CHECK(error.kind() == ErrorKind::scheduler);
  CHECK(std::string(static_cast<const std::runtime_error&>(error).what()) == "squeue does not answer; try again later");
}

TEST_CASE("context goes before the message, outermost first, and leaves the kind and the inner error alone")
{
  const Error inner(ErrorKind::recipe, "no such model");
  const Error outer = inner.within("line 3").within("lenet.yaml");
  CHECK(std::string(outer.what()) == "lenet.yaml: line 3: no such model");
  CHECK(outer.kind() == ErrorKind::recipe);
  CHECK(std::string(inner.what()) == "no such model");
}

TEST_CASE("a system error says what was tried and what the system answered, and is the environment's")
{
  const Error full = system_error("open /x/y", ENOSPC);
  CHECK(std::string(full.what()) == "open /x/y: No space left on device");
  CHECK(full.kind() == ErrorKind::environment);
}
