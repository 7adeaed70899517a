#include "store/analysis/doubts/separation.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

// Runs of half a minute each that begin at these minutes.
std::vector<Measured> runs_at(const std::vector<double>& minutes, const std::string& study, const std::string& host = "n1",
                              const std::string& processor = "EPYC")
{
  std::vector<Measured> runs;
  for (const double minute : minutes)
    runs.push_back({.study = study,
                    .begin_unix_s = 60 * minute,
                    .end_unix_s = 60 * minute + 30,
                    .hosts = {host},
                    .facts = {{"processors", processor}}});
  return runs;
}

} // namespace

TEST_CASE("runs of two studies that follow each other, or alternate on other nodes, are apart, and runs that alternate are not")
{
  const auto a = runs_at({0, 1, 2}, "one"), b = runs_at({3, 4, 5}, "two");
  CHECK_FALSE(separation_of(a, b).is_together);
  CHECK(separation_of(a, b).apart_s == 30);
  CHECK_FALSE(separation_of(a, b).a_is_later);
  CHECK(separation_of(b, a).a_is_later);
  CHECK(separation_of(runs_at({0, 3, 4}, "one"), runs_at({1, 2, 5}, "two")).is_together);
  CHECK_FALSE(separation_of(runs_at({0, 1, 5}, "one"), runs_at({2, 3, 4}, "two")).is_together);
  const auto c = runs_at({0, 2, 4}, "one", "n1"), d = runs_at({1, 3, 5}, "two", "n2");
  const auto separation = separation_of(c, d);
  CHECK_FALSE(separation.is_together);
  CHECK(separation.by == Confounded::by_nodes);
  CHECK(separation.other_hosts);
}

TEST_CASE("runs of one study that follow each other are apart as those of two are, but for those of common rounds")
{
  auto a = runs_at({0, 1, 2}, "one"), b = runs_at({3, 4, 5}, "one");
  const auto separation = separation_of(a, b);
  CHECK(separation.by == Confounded::by_time);
  CHECK(separation.is_one_study);
  CHECK_FALSE(separation.is_together);
  for (std::size_t i = 0; i < a.size(); ++i) a[i].block = b[i].block = std::to_string(i); // of one allocation, a ladder
  CHECK(separation_of(a, b).is_together);
  CHECK_FALSE(separation_of(runs_at({0, 1, 2}, ""), runs_at({3, 4, 5}, "")).is_one_study); // nobody knows the studies
}

TEST_CASE("what differs between two sides is told, and what one side does not know is not")
{
  auto a = runs_at({0, 1, 2}, "one"), b = runs_at({2000, 2001, 2002}, "two", "n2", "Xeon");
  a[0].facts["compilers"] = "GCC 12";
  const auto separation = separation_of(a, b);
  REQUIRE(separation.facts.size() == 2);
  CHECK(separation.facts[0].name == "hosts");
  CHECK(separation.facts[0].a == "n1");
  CHECK(separation.facts[0].b == "n2");
  CHECK(separation.facts[1].name == "processors");
  CHECK(separation.other_hosts);
  CHECK(separation.other_processors);
  CHECK_FALSE(separation.is_same_kind);
  CHECK(separation.apart_s == Approx(33 * 3600).epsilon(0.02));
  CHECK_FALSE(separation.a_is_later);
}

TEST_CASE("a machine that others used during one side is told")
{
  auto a = runs_at({0, 1, 2}, "one"), b = runs_at({3, 4, 5}, "two");
  for (auto& run : a) run.busy_share = 0.01;
  b[1].busy_share = 0.31;
  const auto facts = separation_of(a, b).facts;
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].name == "cores taken by others");
  CHECK(facts[0].a == "up to 1 %");
  CHECK(facts[0].b == "up to 31 %");
}

TEST_CASE("sides without a time are apart by an unknown time, and hosts stand for processors that are not known")
{
  auto a = runs_at({0, 1, 2}, "one"), b = runs_at({3, 4, 5}, "two");
  b[1].begin_unix_s = std::nan("");
  for (auto& run : b) run.facts.clear();
  const auto separation = separation_of(a, b);
  CHECK_FALSE(separation.is_together);
  CHECK(std::isnan(separation.apart_s));
  CHECK(separation.is_same_kind);
  for (auto& run : b) run.hosts = {"n2"};
  CHECK_FALSE(separation_of(a, b).is_same_kind);
  CHECK_FALSE(separation_of(a, b).other_processors);
}
