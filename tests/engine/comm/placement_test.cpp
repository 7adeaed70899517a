// Refusing more threads than cores.
#include "engine/comm/placement.hpp"
#include "tests/engine/refusal.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

std::string refusal(const std::vector<RankPlace>& places, std::int64_t threads, std::int64_t communication = 0)
{
  return dt::test::refusal(ErrorKind::run, [&] { require_cores(places, {.compute = threads, .communication = communication}); });
}

constexpr const char* remedy =
    " Give the job more cores or other binding (resources.launcher_args), lower resources.ranks_per_node or "
    "resources.threads_per_rank, or set resources.oversubscribe: true (timings then mean little).";

} // namespace

TEST_CASE("ranks are accepted whose masks and hosts have a core for every thread, a communication thread too")
{
  CHECK(refusal({{"n1", {0, 1}}, {"n1", {2, 3}}, {"n2", {0, 1}}}, 2).empty());
  CHECK(refusal({{"n1", {0, 1, 2, 3}}, {"n1", {0, 1, 2, 3}}}, 2).empty());
  CHECK(refusal({{"n1", {0, 1, 2}}, {"n2", {0, 1, 2}}}, 2, 1).empty());
}

TEST_CASE("more threads than cores in a rank's mask, or in those of a host together, are refused with the remedy")
{
  struct Row {
    std::vector<RankPlace> places;
    std::int64_t threads, communication;
    std::string why;
  };
  const std::string poll = std::string(remedy).replace(std::string(remedy).find("or set"), 0, "take sync.progress: poll, ");
  for (const auto& [places, threads, communication, why] : std::vector<Row>{
           {{{"n1", {0, 1}}, {"n2", {4}}},
            2,
            0,
            std::string("Rank 1 on n2 may use 1 core (mask 4), but needs 2: 2 threads for resources.threads_per_rank.") + remedy},
           {{{"n1", {0, 1}}, {"n1", {0, 1}}, {"n1", {0, 1}}},
            1,
            0,
            std::string("The 3 ranks on n1 share 2 cores (mask 0-1), but need 3: 1 thread each.") + remedy},
           {{{"n1", {0, 1, 2}}, {"n2", {4, 5}}},
            2,
            1,
            "Rank 1 on n2 may use 2 cores (mask 4-5), but needs 3: 2 threads for resources.threads_per_rank and 1 more for "
            "sync.progress: thread." +
                poll},
           {{{"n1", {0, 1}}, {"n1", {0, 1}}},
            1,
            1,
            "The 2 ranks on n1 share 2 cores (mask 0-1), but need 4: 1 thread each and 1 more each for sync.progress: thread." +
                poll}})
    CHECK(refusal(places, threads, communication) == why);
}

TEST_CASE("nodes are counted by host") { CHECK(node_count({{"a", {0}}, {"b", {0}}, {"a", {1}}}) == 2); }

TEST_CASE("ranks have cores of their own if each can be given one, whatever the masks")
{
  const auto masks = [](const std::vector<std::vector<int>>& cores) {
    std::vector<RankPlace> places;
    for (const auto& mask : cores) places.push_back({"n1", mask});
    return places;
  };
  CHECK(have_own_cores(masks({{0}, {1}})));
  CHECK(have_own_cores(masks({{0, 1}, {0, 1}})));
  CHECK(have_own_cores(masks({{0, 1, 2}, {0}, {1}}))); // the first must leave its first cores to the others
  CHECK_FALSE(have_own_cores(masks({{0, 1}, {0, 1}, {0, 1}})));
  CHECK_FALSE(have_own_cores(masks({{0}, {0}, {1, 2, 3}}))); // enough cores in all, but not for the first two
  CHECK_FALSE(have_own_cores(masks({{}})));
  CHECK(have_own_cores({}));
}
