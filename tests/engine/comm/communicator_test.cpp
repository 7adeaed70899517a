// What every rank can tell every other. Started by mpirun with several counts of ranks.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/placement.hpp"
#include "tests/engine/refusal.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;
using namespace dt::comm;

TEST_CASE("broadcast brings the root's values to every rank and is counted at the root alone")
{
  Communicator comm(MPI_COMM_WORLD);
  const int root = comm.size() - 1;
  std::vector<float> values(1000, static_cast<float>(comm.rank()));
  comm.broadcast(values, root);
  CHECK(values == std::vector<float>(1000, static_cast<float>(root)));
  const bool sends = comm.rank() == root && comm.size() > 1;
  CHECK(comm.traffic().bytes == (sends ? 4000 * (comm.size() - 1) : 0));
  CHECK(comm.traffic().messages == (sends ? 1 : 0));
}

TEST_CASE("texts of different lengths reach every rank in rank order, empty ones too")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto texts = comm.gather_texts(std::string(static_cast<std::size_t>(comm.rank()) * 3, 'x'));
  REQUIRE(texts.size() == static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < texts.size(); ++r) CHECK(texts[r] == std::string(r * 3, 'x'));
  CHECK(comm.broadcast_text(comm.is_root() ? "the spec" : "") == "the spec");
}

TEST_CASE("a text that differs on one rank is seen on all")
{
  Communicator comm(MPI_COMM_WORLD);
  CHECK(comm.all_equal("same"));
  CHECK(comm.all_equal(comm.rank() == 1 ? "other" : "same") == (comm.size() == 1));
}

TEST_CASE("numbers are gathered at rank 0, rank after rank")
{
  Communicator comm(MPI_COMM_WORLD);
  const std::vector<double> mine{comm.rank() + 0.5, -1.0 * comm.rank()};
  const auto all = comm.gather_numbers(mine);
  REQUIRE(all.size() == (comm.is_root() ? 2 * static_cast<std::size_t>(comm.size()) : 0));
  for (std::size_t r = 0; 2 * r < all.size(); ++r) {
    CHECK(all[2 * r] == static_cast<double>(r) + 0.5);
    CHECK(all[2 * r + 1] == -static_cast<double>(r));
  }
}

TEST_CASE("records are not traffic")
{
  Communicator comm(MPI_COMM_WORLD);
  std::vector<double> values{1, 2};
  comm.sum_record(values);
  comm.broadcast_text("text");
  CHECK(values == std::vector<double>{1.0 * comm.size(), 2.0 * comm.size()});
  CHECK(comm.traffic().bytes == 0);
  CHECK(comm.traffic().messages == 0);
}

TEST_CASE("an MPI error is thrown with the call and MPI's words")
{
  Communicator comm(MPI_COMM_WORLD);
  CHECK(dt::test::refusal(dt::ErrorKind::internal, [&] {
          check_mpi(MPI_Send(nullptr, 1, MPI_INT, comm.size(), 0, comm.handle()), "MPI_Send");
        }) == "MPI_Send failed: MPI_ERR_RANK: invalid rank");
}

TEST_CASE("every rank knows every rank's place")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto places = gather_places(comm);
  REQUIRE(places.size() == static_cast<std::size_t>(comm.size()));
  CHECK(node_count(places) == 1);
  for (const auto& place : places) CHECK_FALSE(place.cores.empty());
}

TEST_CASE("fresh tags stay between those that callers choose and MPI's limit, however many were asked for, and differ from "
          "lasting ones")
{
  Communicator comm(MPI_COMM_WORLD);
  std::set<int> fresh, lasting;
  for (const std::int64_t asked : {std::int64_t{0}, (std::int64_t{1} << 31) - 5, std::int64_t{1} << 40}) {
    comm.skip_fresh_tags(asked);
    for (int i = 0; i < 10; ++i) fresh.insert(comm.fresh_tag());
    for (int i = 0; i < 10; ++i) lasting.insert(comm.lasting_tag());
  }
  CHECK(fresh.size() == 30);
  CHECK(lasting.size() == 30);
  CHECK(*fresh.begin() >= 1000);
  CHECK(*lasting.rbegin() <= 32767); // what every MPI library allows
  CHECK(*fresh.rbegin() < *lasting.begin());
}

TEST_CASE("sums stay right when their tags begin again")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto ring = make_allreduce({.algorithm = "ring"}, comm);
  comm.skip_fresh_tags(31'000 * std::int64_t{100'000} - 3); // the fourth of these sums has the very first tag
  std::vector<std::vector<float>> buffers;
  for (int b = 0; b < 6; ++b) buffers.emplace_back(1000, static_cast<float>(b + comm.rank()));
  std::vector<std::unique_ptr<PendingSum>> sums;
  for (auto& buffer : buffers) sums.push_back(ring->begin(buffer));
  for (auto& sum : sums) sum->wait();
  const int ranks = comm.size();
  for (int b = 0; b < 6; ++b)
    CHECK(buffers[static_cast<std::size_t>(b)] ==
          std::vector<float>(1000, static_cast<float>(b * ranks + ranks * (ranks - 1) / 2)));
}
