// dtctl predict on a study that really ran.
#include "tests/cli/driver.hpp"

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;

namespace {

std::string scaling(const std::string& ranks)
{
  return tiny_recipe("resources: {oversubscribe: true}\nsync: {allreduce: ring}\nstudy: {mode: strong, ranks: [" + ranks +
                     "]}\n");
}

std::size_t stored(const Dtctl& dtctl)
{
  const auto folder = dtctl.home() / "predictions";
  if (!std::filesystem::exists(folder)) return 0;
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

bool has(const Json& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

} // namespace

TEST_CASE("a prediction is printed with interval, backtest, gains and assumptions, stored, and scored when the size has run")
{
  const Dtctl dtctl;
  dtctl.write("r.yaml", scaling("1, 2"));
  REQUIRE(dtctl.run({"sweep", "r.yaml", "--wait"}).exit_code == 0);

  const auto answer = dtctl.json({"predict", "tiny", "--ranks", "16,4", "--what-if", "bandwidth=2x,latency=0"});
  const auto& predictions = answer.at("predictions");
  REQUIRE(predictions.size() == 2);
  CHECK(predictions[0].at("ranks") == 4);
  CHECK(predictions[0].at("batch_per_rank") == 8);
  for (const auto& prediction : predictions) { // whether two sizes identify it depends on how they scatter
    CHECK(prediction.at("throughput_low") < prediction.at("throughput_high"));
    CHECK(prediction.at("identified") == prediction.at("throughput").is_number());
    const bool is_closed = prediction.at("open").empty() && prediction.at("identified") == true;
    CHECK(is_closed == prediction.at("measure").is_null());
  }
  CHECK(has(predictions[0].at("changes"), "ranks_per_node"));
  CHECK_FALSE(has(predictions[0].at("changes"), "distance"));
  CHECK(has(predictions[1].at("changes"), "distance"));
  CHECK(predictions[1].at("extrapolation") == true);
  CHECK(answer.at("changes").size() >= 3);
  REQUIRE(answer.at("backtests").size() == 1);
  CHECK(answer.at("backtests")[0].at("size") == 2);
  CHECK(answer.at("backtests")[0].at("borrowed_link") == true);
  REQUIRE(answer.at("what_if").size() == (predictions[1].at("identified") == true ? 2 : 0));
  if (predictions[1].at("identified") == true) CHECK(answer.at("what_if")[0].at("gain") >= answer.at("what_if")[1].at("gain"));
  CHECK(answer.at("assumptions").size() >= 4);
  CHECK(stored(dtctl) == 2);

  const auto text = dtctl.run({"predict", "--ranks", "16"}).out;
  CHECK_THAT(text, Contains("extrapolation") && Contains("Backtests") && Contains("at most 2 were measured"));

  dtctl.write("r.yaml", scaling("1, 2, 4"));
  const auto plan = dtctl.json({"sweep", "--dry-run", "r.yaml"});
  REQUIRE(plan.at("predictions").size() == 1);
  CHECK(plan.at("predictions")[0].at("ranks") == 4);
  CHECK(plan.at("most_informative_size") == 8);

  REQUIRE(dtctl.run({"sweep", "r.yaml", "--wait"}).exit_code == 0);
  const auto scores = dtctl.json({"results", "--predictions"}).at("predictions");
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].at("ranks") == 4);
  CHECK(scores[0].at("runs") == 1);
  CHECK(scores[0].at("error").is_number() == predictions[0].at("identified"));
  CHECK(scores[1].at("runs") == 0);
  CHECK(scores[1].at("error").is_null());
  CHECK(dtctl.json({"predict", "--backtest"}).at("backtests").size() == 2);
}

TEST_CASE("predict says what is missing or wrong, with exit code 2")
{
  const Dtctl dtctl;
  dtctl.write("r.yaml", scaling("1"));
  REQUIRE(dtctl.run({"sweep", "r.yaml", "--wait"}).exit_code == 0);
  using dt::test::Words;
  for (const auto& [words, why] : std::vector<std::pair<Words, const char*>>{{{}, "--nodes 16,64"},
                                                                             {{"--ranks", "4"}, "only one size was measured"},
                                                                             {{"--ranks", "4", "--nodes", "4"}, "exclude"},
                                                                             {{"--ranks", "4,x"}, "\"x\" is not a number"},
                                                                             {{"--ranks", "4", "--what-if", "speed=2x"}, "speed"},
                                                                             {{"--ranks", "4", "--profile", "fast"}, "`fast`"}}) {
    const auto result = dtctl.run(dt::test::with({"predict"}, words));
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(why));
  }
  CHECK(stored(dtctl) == 0);
}

TEST_CASE("with the network of a profile one size is enough, and the missing backtest is said")
{
  const Dtctl dtctl;
  dtctl.write("r.yaml", scaling("1"));
  dtctl.write("dtctl.yaml", "profiles:\n  fast:\n    network: {latency: 10us, bandwidth: 10 Gbit/s}\n");
  REQUIRE(dtctl.run({"sweep", "r.yaml", "--wait"}).exit_code == 0);
  const auto result = dtctl.run({"predict", "--ranks", "4", "--profile", "fast", "--dry-run"});
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("how far these predictions are off is not known"));
  CHECK(stored(dtctl) == 0);
}
