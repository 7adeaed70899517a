// dtctl export --format extra-p, held to the schema of Extra-P's documentation.
#include "core/files/file.hpp"
#include "tests/cli/report/pictured_home.hpp"

#include <set>

#include <catch2/catch.hpp>

using Catch::Contains;
using namespace dt;
using namespace dt::test;

TEST_CASE("Extra-P gets a value for each run of the times of a step and of its phases, over the number of ranks, and none "
          "without phases")
{
  const PicturedHome home;
  const auto document = Json::parse(home.run({"export", "last", "--format", "extra-p"}).out);
  CHECK(document.at("parameters") == Json{"ranks"});
  std::set<std::string> steps;
  for (const auto& [path, metrics] : document.at("measurements").items()) {
    INFO(path);
    REQUIRE(metrics.size() == 1);
    for (const auto& point : metrics.at("time")) {
      REQUIRE(point.at("point").size() == 1);
      CHECK(point.at("point")[0].is_number());
      CHECK(point.at("values").size() == (path.starts_with("simulated") ? 1 : 3)); // the repeats
      for (const auto& value : point.at("values")) CHECK(value.get<double>() >= 0);
    }
    if (path.ends_with("->step")) steps.insert(path);
  }
  CHECK(steps.size() == 3); // the labels, without the controls
  const auto& first = document.at("measurements").at(*steps.rbegin()).at("time");
  CHECK(first.size() == 3); // 1, 2 and 4 ranks
  CHECK(document.at("measurements").contains(*steps.rbegin() + "->forward"));
  const auto refused = home.run({"export", "last", "--where", "state=failed", "--format", "extra-p", "-o", "x.json"});
  CHECK(refused.exit_code == 2);
  CHECK(!is_there(home.file("x.json")));
}
