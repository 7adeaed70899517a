#include "core/record/load_record.hpp"

#include "tests/core/put_file.hpp"
#include "tests/core/record/attempt.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using dt::test::Attempt;
using dt::test::put_file;

TEST_CASE("a load record reads back as it was written, with what was not measured")
{
  const Attempt a;
  LoadRecord load{.unix_s = 1700000000.5,
                  .nodes = {{.host = "node1", .cores = 8, .own_cores = 2, .seconds = 3.5, .load_begin = 2.25}}};
  load.nodes[0].others_share = 0.125;
  load.nodes[0].throttled_share = 0.75;
  load.nodes[0].quota_cores = 0.5;
  put_file(load_path(a.attempt), to_json(load));
  const auto read = read_load(a.attempt);
  REQUIRE(read);
  CHECK(read->unix_s == 1700000000.5);
  REQUIRE(read->nodes.size() == 1);
  const auto& node = read->nodes[0];
  CHECK(node.host == "node1");
  CHECK(node.cores == 8);
  CHECK(node.own_cores == 2);
  CHECK(node.seconds == 3.5);
  CHECK(node.load_begin == 2.25);
  CHECK(std::isnan(node.load_end));
  CHECK(node.others_share == 0.125);
  CHECK(std::isnan(node.steal_share));
  CHECK(node.throttled_share == 0.75);
  CHECK(node.quota_cores == 0.5);
}

TEST_CASE("a load record that is missing, torn or of another shape is none")
{
  const Attempt a;
  CHECK_FALSE(read_load(a.attempt));
  for (const auto* text :
       {"", "{", "[]", "{\"schema\":[1]}", "{\"schema\":1,\"unix_s\":1}", "{\"schema\":1,\"unix_s\":1,\"nodes\":[{}]}"}) {
    CAPTURE(text);
    put_file(load_path(a.attempt), text);
    CHECK_FALSE(read_load(a.attempt));
  }
}
