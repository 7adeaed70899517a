// Keys that a study tunes, and their ranges.
#include "core/error.hpp"
#include "core/spec/tuned_key.hpp"
#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using Catch::Contains;

TEST_CASE("a range of a tuned key is logarithmic above 0, whole for an integer, and limited by what the key can have")
{
  const auto rate = tuned_key("optimizer.learning_rate", "0.001..1");
  CHECK(rate.from == 0.001);
  CHECK(rate.to == 1);
  CHECK(rate.is_logarithmic);
  CHECK_FALSE(rate.is_integer);
  CHECK(rate.least < 1e-9);
  const auto period = tuned_key("sync.period", "1..64");
  CHECK(period.is_integer);
  CHECK(period.least == 1);
  CHECK(tuned_text(period, 8.2) == "8");
  CHECK(tuned_text(rate, 0.0316) == "0.0316");
  CHECK_FALSE(tuned_key("optimizer.momentum", "0..0.9").is_logarithmic);
  CHECK_FALSE(tuned_key("optimizer.momentum", "0.5..0.9 linear").is_logarithmic);
  CHECK(tuned_key("program.parameters.lr", "1e-4..1").is_logarithmic);
  CHECK(tuned_key("program.parameters.layers", "1..8").is_integer);
  CHECK_FALSE(tuned_key("program.parameters.shift", "-1..1 linear").is_logarithmic);
}

TEST_CASE("a key that cannot be tuned and a range that is none are refused with what to do")
{
  const auto refusal = [](const std::string& path, const std::string& range) {
    return test::message_of([&] { tuned_key(path, range); });
  };
  CHECK_THAT(refusal("optimizer.learning_rat", "0.1..1"), Contains("optimizer.learning_rate"));
  CHECK_THAT(refusal("train.epochs", "1..9"), Contains("no numeric key of optimizer or sync"));
  CHECK_THAT(refusal("sync.strategy", "1..9"), Contains("no numeric key of optimizer or sync"));
  for (const auto* range : {"0.1", "0.1..", "0.1..1 log 4", "a..b", "0.1..1 cubic", "nan..1"})
    CHECK_THAT(refusal("optimizer.learning_rate", range), Contains("write `from..to`"));
  CHECK_THAT(refusal("optimizer.learning_rate", "1..0.1"), Contains("smaller end"));
  CHECK_THAT(refusal("optimizer.learning_rate", "0.1..0.1"), Contains("smaller end"));
  CHECK_THAT(refusal("sync.period", "1.5..9"), Contains("both ends must be whole"));
  CHECK_THAT(refusal("sync.period", "0..9"), Contains("not within 1"));
  CHECK_THAT(refusal("optimizer.momentum", "0..0.9 log"), Contains("above 0"));
  CHECK_THAT(refusal("program.parameters.shift", "-1..1"), Contains("goes across 0"));
}

TEST_CASE("keys of sync are tuned for the strategies that read them")
{
  RunSpec run;
  run.study.tune.keys = {{"optimizer.learning_rate", "0.001..1"}, {"sync.period", "1..64"}};
  run.sync.strategy = "sync-sgd";
  CHECK(tuned_keys(run).size() == 1);
  run.sync.strategy = "local-sgd";
  REQUIRE(tuned_keys(run).size() == 2);
  CHECK(tuned_keys(run)[1].path == "sync.period");
}
