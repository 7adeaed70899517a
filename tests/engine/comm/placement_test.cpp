// Refusing more threads than cores.
#include "core/error.hpp"
#include "engine/comm/placement.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

std::string refusal(const std::vector<RankPlace>& places, std::int64_t threads, std::int64_t communication = 0)
{
  try {
    require_cores(places, {.compute = threads, .communication = communication});
  } catch (const dt::Error& error) {
    CHECK(error.kind() == dt::ErrorKind::run);
    return error.what();
  }
  return "accepted";
}

constexpr const char* remedy =
    " Give the job more cores or other binding (resources.launcher_args), lower resources.ranks_per_node or "
    "resources.threads_per_rank, or set resources.oversubscribe: true (timings then mean little).";

} // namespace

TEST_CASE("ranks with cores of their own are accepted")
{
  CHECK(refusal({{"n1", {0, 1}}, {"n1", {2, 3}}, {"n2", {0, 1}}}, 2) == "accepted");
}

TEST_CASE("overlapping masks are accepted while the host has a core for every thread")
{
  CHECK(refusal({{"n1", {0, 1, 2, 3}}, {"n1", {0, 1, 2, 3}}}, 2) == "accepted");
}

TEST_CASE("more threads than cores in one rank's mask are refused with rank, host, mask and remedy")
{
  CHECK(refusal({{"n1", {0, 1}}, {"n2", {4}}}, 2) ==
        std::string("Rank 1 on n2 may use 1 core (mask 4), but needs 2: 2 threads for resources.threads_per_rank.") + remedy);
}

TEST_CASE("ranks that share too few cores are refused although each mask alone would do")
{
  CHECK(refusal({{"n1", {0, 1}}, {"n1", {0, 1}}, {"n1", {0, 1}}}, 1) ==
        std::string("The 3 ranks on n1 share 2 cores (mask 0-1), but need 3: 1 thread each.") + remedy);
}

TEST_CASE("a communication thread needs a core of its own in every rank's mask and on every host")
{
  const std::string poll = std::string(remedy).replace(std::string(remedy).find("or set"), 0, "take sync.progress: poll, ");
  CHECK(refusal({{"n1", {0, 1, 2}}, {"n2", {0, 1, 2}}}, 2, 1) == "accepted");
  CHECK(refusal({{"n1", {0, 1, 2}}, {"n2", {4, 5}}}, 2, 1) ==
        "Rank 1 on n2 may use 2 cores (mask 4-5), but needs 3: 2 threads for resources.threads_per_rank and 1 more for "
        "sync.progress: thread." +
            poll);
  CHECK(refusal({{"n1", {0, 1}}, {"n1", {0, 1}}}, 1, 1) ==
        "The 2 ranks on n1 share 2 cores (mask 0-1), but need 4: 1 thread each and 1 more each for sync.progress: thread." +
            poll);
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
