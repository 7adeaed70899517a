// Which allreduce is taken at which size, from given timings; and timings as a file.
#include "engine/comm/allreduce_timings.hpp"

#include <catch2/catch.hpp>

using namespace dt::engine;

namespace {

const AllreduceTimings timings{.algorithms = {"mpi", "ring", "hierarchical"},
                               .bytes = {1000, 10'000, 100'000},
                               .seconds = {{1e-5, 4e-5, 2e-5}, {2e-5, 4e-5, 1e-5}, {8e-5, 2e-5, 4e-5}}};

} // namespace

TEST_CASE("between two sizes the choice changes where the lines through their times cross")
{
  // mpi leads by 2 at 1000 bytes and is behind by 2 at 10000: half way, at 10^3.5. hierarchical leads ring by 4 at 10^4 and is behind by
  // 2 at 10^5: two thirds of the way.
  const auto choices = choose(timings);
  CHECK(choices == std::vector<AllreduceChoice>{{0, 0}, {3162, 2}, {46416, 1}});
  CHECK(in_words(choices, timings.algorithms) == "mpi, hierarchical from 3.1 KiB, ring from 45.3 KiB");
}

TEST_CASE("the first algorithm is taken unless another is clearly faster")
{
  CHECK(choose({.algorithms = {"mpi", "ring"}, .bytes = {1000}, .seconds = {{1.04, 1.0}}}) == std::vector<AllreduceChoice>{{0, 0}});
  CHECK(choose({.algorithms = {"mpi", "ring"}, .bytes = {1000}, .seconds = {{1.06, 1.0}}}) == std::vector<AllreduceChoice>{{0, 1}});
}

TEST_CASE("the algorithm of the size before stays unless another is clearly faster")
{
  CHECK(choose({.algorithms = {"mpi", "ring", "tree"}, .bytes = {1000, 4000}, .seconds = {{2.0, 1.0, 2.0}, {2.0, 1.04, 1.0}}}) ==
        std::vector<AllreduceChoice>{{0, 1}});
}

TEST_CASE("a tie that the first algorithm won changes no later than the size that it lost, and no sooner than the tie")
{
  CHECK(choose({.algorithms = {"mpi", "ring"}, .bytes = {1000, 4000}, .seconds = {{1.04, 1.0}, {2.0, 1.0}}}) ==
        std::vector<AllreduceChoice>{{0, 0}, {1000, 1}});
  CHECK(choose({.algorithms = {"mpi", "ring"}, .bytes = {1000, 4000}, .seconds = {{2.0, 1.0}, {1.04, 1.0}}}) ==
        std::vector<AllreduceChoice>{{0, 1}, {4000, 0}});
}

TEST_CASE("a choice holds from its size up to the next one's, the last for all that is larger")
{
  const auto choices = choose(timings);
  CHECK(choice_for(choices, 0) == 0);
  CHECK(choice_for(choices, 3161) == 0);
  CHECK(choice_for(choices, 3162) == 1);
  CHECK(choice_for(choices, 46'415) == 1);
  CHECK(choice_for(choices, 1'000'000'000) == 2);
}

TEST_CASE("the best bucket is the least that moves four fifths of the most bytes a second")
{
  CHECK(best_bucket_bytes(timings, choose(timings)) == 100'000); // 1e8, 1e9, 5e9 bytes/s
  const AllreduceTimings flat{.algorithms = {"mpi"}, .bytes = {1000, 2000, 4000}, .seconds = {{1.0}, {1.2}, {2.0}}};
  CHECK(best_bucket_bytes(flat, choose(flat)) == 2000); // 1000, 1667, 2000 bytes/s
  const AllreduceTimings burst{.algorithms = {"mpi"}, .bytes = {16 << 10, 256 << 10, 1 << 20}, .seconds = {{0.1}, {2.0}, {8.0}}};
  CHECK(best_bucket_bytes(burst, choose(burst)) == 256 << 10); // 16 KiB pass faster than the link goes
}

TEST_CASE("timings are read back as they were written")
{
  const auto read = parse_timings(to_text(timings, "k"), "k");
  REQUIRE(read);
  CHECK(read->algorithms == timings.algorithms);
  CHECK(read->bytes == timings.bytes);
  CHECK(read->seconds == timings.seconds);
}

TEST_CASE("timings that are torn anywhere, of another key, or senseless are no timings")
{
  const auto text = to_text(timings, "k");
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(parse_timings(text.substr(0, length), "k"));
  }
  CHECK_FALSE(parse_timings(text, "j"));
  const auto with_row = [](const std::string& row) { return "dtctl allreduce timings 2 k\nmpi ring\n" + row + "\n1 sizes\n"; };
  CHECK(parse_timings(with_row("256 1e-06 2e-06"), "k"));
  for (const auto* row : {"256 1e-06", "256 1e-06 2e-06 3e-06", "256 1e-06 0", "256 1e-06 -1", "256 1e-06 nan", "256 1e-06 x", "0 1 1", ""}) {
    CAPTURE(row);
    CHECK_FALSE(parse_timings(with_row(row), "k"));
  }
}
