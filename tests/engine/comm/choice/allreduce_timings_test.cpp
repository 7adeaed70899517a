// Which allreduce is taken at which size, from given timings; and timings as a file.
#include "engine/comm/choice/allreduce_timings.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::comm;

namespace {

const AllreduceTimings timings{.algorithms = {"mpi", "ring", "hierarchical"},
                               .bytes = {1000, 10'000, 100'000},
                               .seconds = {{1e-5, 4e-5, 2e-5}, {2e-5, 4e-5, 1e-5}, {8e-5, 2e-5, 4e-5}}};

} // namespace

TEST_CASE("between two sizes the choice changes where the lines through their times cross")
{
  // mpi leads by 2 at 1000 bytes and is behind by 2 at 10000: half way, at 10^3.5. hierarchical leads ring by 4 at 10^4 and is
  // behind by 2 at 10^5: two thirds of the way.
  const auto choices = choose(timings);
  CHECK(choices == std::vector<AllreduceChoice>{{0, 0}, {3162, 2}, {46416, 1}});
  CHECK(in_words(choices, timings.algorithms) == "mpi, hierarchical from 3.1 KiB, ring from 45.3 KiB");
}

TEST_CASE("the first algorithm, or that of the size before, is taken unless another one is clearly faster")
{
  struct Row {
    const char* what;
    std::vector<std::vector<double>> seconds; // of mpi, ring and tree at 1000 and at 4000 bytes
    std::vector<AllreduceChoice> expected;
  };
  const std::vector<std::string> names{"mpi", "ring", "tree"};
  for (const auto& [what, seconds, expected] :
       std::vector<Row>{{"about as fast as the first", {{1.04, 1.0}}, {{0, 0}}},
                        {"about as fast as that of the size before", {{2.0, 1.0, 2.0}, {2.0, 1.02, 1.0}}, {{0, 1}}},
                        {"clearly faster than that of the size before", {{2.0, 1.0, 2.0}, {2.0, 1.04, 1.0}}, {{0, 1}, {3714, 2}}},
                        {"the first has won a tie, and lost the next size", {{1.04, 1.0}, {2.0, 1.0}}, {{0, 0}, {1000, 1}}},
                        {"the first has lost, and won a tie at the next size", {{2.0, 1.0}, {1.04, 1.0}}, {{0, 1}, {4000, 0}}}}) {
    CAPTURE(what);
    AllreduceTimings made{.algorithms = names, .bytes = {1000, 4000}, .seconds = seconds};
    made.algorithms.resize(seconds[0].size());
    made.bytes.resize(seconds.size());
    CHECK(choose(made) == expected);
  }
  const auto taken = [](double mpi_s, double ratio_limit) { // beside 1 s of the ring
    return choose({.algorithms = {"mpi", "ring"}, .bytes = {1000}, .seconds = {{mpi_s, 1.0}}, .ratio_limits = {{0, ratio_limit}}})
        .front()
        .algorithm;
  };
  CHECK(taken(1.06, 0.9) == 1);
  CHECK(taken(2.0, 0.9) == 1);
  CHECK(taken(2.0, 1.2) == 0); // it may not be faster, however fast it looked
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

TEST_CASE("an algorithm that was not timed at a size is not taken there")
{
  const auto choices =
      choose({.algorithms = {"mpi", "tree", "ring"}, .bytes = {1000, 1'000'000}, .seconds = {{2, 1, 4}, {2, 0, 1}}});
  CHECK(choices.front().algorithm == 1);
  CHECK(choices[choice_for(choices, 1'000'000)].algorithm == 2);
}

namespace {

// Five hosts with 1 Gbit/s links, as the formulas see them, up to some size; plain MPI sends three times the least bytes.
AllreduceTimings five_hosts(std::size_t largest)
{
  constexpr CostModel truth{.alpha_s = 60e-6, .beta_s = 8.4e-9, .gamma_s = 0.2e-9};
  constexpr CostShape shape{.ranks = 5, .nodes = 5};
  AllreduceTimings made{.algorithms = {"mpi", "ring", "halving-doubling", "tree"}, .bytes = {}, .seconds = {}, .shape = shape};
  for (std::size_t bytes = 1 << 10; bytes <= largest; bytes *= 4) {
    made.bytes.push_back(bytes);
    made.seconds.emplace_back();
    for (const auto& name : made.algorithms)
      made.seconds.back().push_back(cost_s(truth, cost_terms(name, shape), name == "mpi" ? 3 * bytes : bytes));
  }
  return made;
}

} // namespace

TEST_CASE("a machine that was busy while small sums were timed does not make the tree the choice for large ones")
{
  auto timings = five_hosts(64 << 10);
  for (auto& row : timings.seconds) {
    row[3] *= 0.45; // the tree was lucky
    row[1] *= 1.3;  // and these were not
    row[2] *= 1.6;
  }
  fit_models(timings, 256 << 10, 50e-6);
  const auto choices = choose(timings);
  CHECK(timings.algorithms[choices[choice_for(choices, 64 << 10)].algorithm] == "tree");
  CHECK(timings.algorithms[choices[choice_for(choices, 10 << 20)].algorithm] == "ring");
}

TEST_CASE("beyond what was timed plain MPI is taken where the model fits badly")
{
  auto timings = five_hosts(64 << 10);
  fit_models(timings, 256 << 10, 50e-6);
  const auto far = 10 << 20;
  const auto sure = choose(timings);
  CHECK(sure[choice_for(sure, far)].algorithm != 0);
  for (auto& model : timings.own) model.spread = 1;
  const auto unsure = choose(timings);
  CHECK(unsure[choice_for(unsure, far)].algorithm == 0);
}

TEST_CASE("predictions pass through what was timed, and follow the formula beyond")
{
  auto timings = five_hosts(1 << 20);
  fit_models(timings, 256 << 10, 50e-6);
  CHECK(predicted_s(timings, 1, 4 << 10) == timings.seconds[1][1]);
  CHECK(predicted_s(timings, 1, 8 << 10) == Approx(std::sqrt(timings.seconds[1][1] * timings.seconds[2][1])));
  const auto far = five_hosts(16 << 20);
  for (std::size_t a = 1; a < 4; ++a) CHECK(predicted_s(timings, a, 16 << 20) == Approx(far.seconds.back()[a]).epsilon(0.01));
  for (auto& row : timings.seconds) row[1] = 0; // timed nowhere
  CHECK(predicted_s(timings, 1, 16 << 20) == Approx(far.seconds.back()[1]).epsilon(0.01));
}

TEST_CASE("the confirming sum is the largest that takes a quarter of a second, and confirms within a factor of 1.5")
{
  const AllreduceTimings slow{
      .algorithms = {"mpi", "ring"}, .bytes = {1000, 4000, 16000}, .seconds = {{0.02, 0.01}, {0.1, 0.2}, {1, 2}}};
  const auto sum = confirming_sum(slow, choose(slow));
  CHECK(sum.bytes == 4000);
  CHECK(sum.algorithm == 0);
  CHECK(sum.seconds == 0.1);
  CHECK(is_confirmed(sum, 0.14));
  CHECK(is_confirmed(sum, 0.07));
  CHECK_FALSE(is_confirmed(sum, 1.0));  // timed at 1 Gbit/s, now at 100 Mbit/s
  CHECK_FALSE(is_confirmed(sum, 0.01)); // and the other way round
}

TEST_CASE("timings are read back as they were written")
{
  auto written = timings;
  written.ratio_limits = {{0, 1.5, 0.25}, {0, 2, 0.5}, {0, 0.3, 0.125}};
  written.shape = {.ranks = 6, .nodes = 3, .ranks_a_node = 2, .supernodes = 1};
  written.model = {.alpha_s = 1e-5, .beta_s = 8e-9, .gamma_s = 1e-10, .spread = 0.07};
  const auto read = parse_timings(to_text(written, "k"), "k");
  REQUIRE(read);
  CHECK(read->algorithms == written.algorithms);
  CHECK(read->bytes == written.bytes);
  CHECK(read->seconds == written.seconds);
  CHECK(read->ratio_limits == written.ratio_limits);
  CHECK(read->shape == written.shape);
  CHECK(to_text(*read, "k") == to_text(written, "k"));
}

TEST_CASE("timings that are torn anywhere, of another key, or senseless are no timings")
{
  const auto text = to_text(timings, "k");
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(parse_timings(text.substr(0, length), "k"));
  }
  CHECK_FALSE(parse_timings(text, "j"));
  const auto with_row = [](const std::string& row, const std::string& model = "model 1e-05 8e-09 0 0.1",
                           const std::string& shape = "shape 2 2 1 1") {
    return "dtctl allreduce timings 3 k\nmpi ring\n" + shape + "\n" + model + "\n" + row + "\n1 sizes\n";
  };
  const std::string good = "256 1e-06 0 2e-06 2.5";
  CHECK(parse_timings(with_row(good), "k"));
  CHECK(parse_timings(with_row("256 1e-06 0 0 0"), "k")); // one was not timed
  for (const auto* row :
       {"256 1e-06 0", "256 1e-06 0 2e-06 2 3e-06 3", "256 1e-06 0 2e-06", "256 0 0 0 0", "256 1e-06 0 -1 1", "256 1e-06 0 nan 1",
        "256 1e-06 0 x 1", "256 1e-06 0 1 -1", "0 1 0 1 1", "9223372036854775807 1 0 1 1", ""}) {
    CAPTURE(row);
    CHECK_FALSE(parse_timings(with_row(row), "k"));
  }
  CHECK_FALSE(parse_timings(with_row(good, "model 1e-05 8e-09 0"), "k"));
  CHECK_FALSE(parse_timings(with_row(good, "model 1e-05 -8e-09 0 0.1"), "k"));
  CHECK_FALSE(parse_timings(with_row(good, "model 1e-05 8e-09 0 0.1", "shape 2 0 1 1"), "k"));
}
