// sync.progress: poll inside long layers. Started by mpirun with several counts of ranks.
#include "core/error.hpp"
#include "engine/sync/exchange/exchanges.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "tests/engine/sync/trained.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

using namespace dt;
using namespace dt::sync;
using namespace dt::sync::test;

namespace {

const std::vector<std::string> polled_allreduces{"ring", "halving-doubling", "tree", "hierarchical"};

StrategyParts parts_of(ProgressMode progress, const std::string& allreduce, comm::Communicator& comm)
{
  dt::RunSpec spec;
  spec.sync = {.strategy = "sync-sgd", .allreduce = allreduce, .bucket_bytes = 2048, .progress = progress};
  spec.resources.oversubscribe = true;
  return make_parts(spec, comm, {});
}

// Tells when a look has found the sum complete, and which threads look.
class WatchedSum : public comm::PendingSum {
 public:
  struct Seen {
    std::atomic<bool> complete{false};
    std::mutex mutex;
    std::set<std::thread::id> threads;
  };
  WatchedSum(std::unique_ptr<comm::PendingSum> sum, Seen& seen) : sum_(std::move(sum)), seen_(seen) {}
  bool advance() override
  {
    {
      const std::lock_guard lock(seen_.mutex);
      seen_.threads.insert(std::this_thread::get_id());
    }
    if (sum_->advance()) seen_.complete = true;
    return seen_.complete;
  }
  void wait() override { sum_->wait(); }

 private:
  std::unique_ptr<comm::PendingSum> sum_;
  Seen& seen_;
};

Exchange watched_exchange(comm::Allreduce& allreduce, std::span<float> values, WatchedSum::Seen& seen)
{
  return {.at_once = {},
          .in_steps = [&allreduce, values, &seen] { return std::make_unique<WatchedSum>(allreduce.begin(values), seen); }};
}

// A replica whose layers take long enough for messages to move on meanwhile. It fails behind the tensor number `fails_behind`,
// counted from the end.
class LongLayers : public ManyTensors {
 public:
  LongLayers(int rank, int fails_behind) : ManyTensors(rank, 0.5F), fails_behind_(fails_behind) {}
  using ManyTensors::compute;
  BatchLoss compute(GradientListener* listener) override
  {
    Pausing pausing(listener, fails_behind_);
    return ManyTensors::compute(&pausing);
  }

 private:
  class Pausing : public GradientListener {
   public:
    Pausing(GradientListener* listener, int left) : listener_(listener), left_(left) {}
    void gradients_ready(Range tensor) override
    {
      if (listener_ != nullptr) listener_->gradients_ready(tensor);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (--left_ == 0) throw Error(ErrorKind::run, "the backward pass failed");
    }

   private:
    GradientListener* listener_;
    int left_;
  };
  int fails_behind_;
};

constexpr int never = 1000;

sync::test::Outcome train_long_layers(ProgressMode progress, const std::string& allreduce, bool pack)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  auto parts = parts_of(progress, allreduce, comm);
  parts.sync.pack = pack;
  const auto strategy = make_strategy(parts);
  LongLayers replica(comm.rank(), never);
  Diary diary;
  strategy->start(replica);
  sync::test::Outcome outcome;
  for (; replica.number <= 3; ++replica.number) outcome.losses.push_back(strategy->step(replica, diary));
  outcome.weights = copy_of(replica.weights());
  return outcome;
}

} // namespace

TEST_CASE("with poll, sums come to their ends during one long layer, before the computing thread waits for them")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  for (const auto& name : polled_allreduces) {
    CAPTURE(name);
    const auto parts = parts_of(ProgressMode::poll, name, comm);
    const auto allreduce = comm::make_allreduce(parts.allreduce(), comm);
    constexpr std::size_t buckets = 3, floats = 300'000;
    std::vector<std::vector<float>> values(buckets, std::vector<float>(floats, static_cast<float>(comm.rank() + 1)));
    std::array<WatchedSum::Seen, buckets> seen;
    const auto exchanges = make_exchanges(parts);
    for (std::size_t b = 0; b < buckets; ++b) exchanges->begin(watched_exchange(*allreduce, values[b], seen[b]));
    while (!std::ranges::all_of(seen, [](const auto& sum) { return sum.complete.load(); })) std::this_thread::yield();
    for (std::size_t b = 0; b < buckets; ++b) exchanges->wait(b);
    for (std::size_t b = 0; b < buckets; ++b) CHECK(exchanges->times(b).end_s >= exchanges->times(b).begin_s);
    exchanges->clear();
    const auto sum = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
    for (const auto& bucket : values) CHECK(std::ranges::count(bucket, sum) == floats);
    REQUIRE(exchanges->facts().size() == 1);
    CHECK(exchanges->facts().front().first == "polling");
  }
}

TEST_CASE("none, poll and thread give the same bits while layers take long")
{
  for (const auto& allreduce : polled_allreduces)
    for (const bool pack : {false, true}) {
      CAPTURE(allreduce, pack);
      const auto thread = train_long_layers(ProgressMode::thread, allreduce, pack),
                 poll = train_long_layers(ProgressMode::poll, allreduce, pack);
      CHECK(poll.weights == thread.weights);
      CHECK(poll.losses == thread.losses);
      if (pack) continue; // `none` sums all in one bucket
      const auto none = train_long_layers(ProgressMode::none, allreduce, pack);
      CHECK(poll.weights == none.weights);
      CHECK(poll.losses == none.losses);
    }
}

TEST_CASE("a rank that fails in its backward pass first sees through what it has begun, whoever moves messages on")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  constexpr int tensors_sent = 6; // of the twelve
  for (const auto& allreduce : polled_allreduces)
    for (const auto progress : {ProgressMode::poll, ProgressMode::thread}) {
      CAPTURE(allreduce, name_of(progress));
      auto parts = parts_of(progress, allreduce, comm);
      parts.sync.pack = false;
      const auto sum = comm::make_allreduce(parts.allreduce(), comm);
      GradientSums sums(parts, *sum);
      LongLayers replica(comm.rank(), tensors_sent);
      Diary diary;
      CHECK_THROWS_WITH(sums.compute(replica, diary), "the backward pass failed");
      // The sums are there on all ranks, with the same bits.
      const auto sent = replica.gradients().subspan(replica.tensors()[replica.tensors().size() - tensors_sent].begin);
      std::vector<double> all(sent.size());
      for (int r = 0; r < comm.size(); ++r) {
        ManyTensors other(r, 0.5F);
        other.compute();
        const auto own = other.gradients().last(sent.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += static_cast<double>(own[i]);
      }
      CHECK(distance(sent, all) < 1e-4);
      CHECK(is_equal_on_all(sent, comm));
    }
}

TEST_CASE("where the computing thread makes sums during its pass, no other thread moves messages on")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  auto parts = parts_of(ProgressMode::poll, "ring", comm);
  parts.sums_in_pass = true;
  const auto allreduce = comm::make_allreduce(parts.allreduce(), comm);
  std::vector<float> values(300'000, 1);
  WatchedSum::Seen seen;
  const auto exchanges = make_exchanges(parts);
  exchanges->begin(watched_exchange(*allreduce, values, seen));
  exchanges->advance();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  exchanges->wait(0);
  exchanges->clear();
  CHECK(seen.threads == std::set{std::this_thread::get_id()});
  CHECK(exchanges->facts().empty());
}
