// Steps of a strategy over ManyTensors, and what they leave behind on a rank.
#pragma once

#include "tests/engine/sync/many_tensors.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <cmath>
#include <memory>

#include <catch2/catch.hpp>

namespace dt::sync::test {

inline std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

inline bool is_equal_on_all(std::span<const float> values, comm::Communicator& comm)
{
  return comm.all_equal({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

// The largest difference of two numbers; very large if one of them is no number.
template<class Expected> double distance(std::span<const float> one, const Expected& other)
{
  REQUIRE(one.size() == other.size());
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double difference = std::abs(static_cast<double>(one[i]) - static_cast<double>(other[i]));
    if (!std::isfinite(difference)) return 1e9;
    worst = std::max(worst, difference);
  }
  return worst;
}

struct Outcome {
  std::vector<float> weights, velocity, centre; // centre: empty for a strategy without one
  std::vector<double> losses;
  std::string phases;
  comm::Traffic traffic; // of the steps
};

struct Setting {
  std::vector<int> nodes{};   // of the ranks, as if there were several hosts; empty: all are on one
  bool padding = true;        // between the tensors
  bool shares_memory = false; // weights, velocity and gradients live in memory of the node
};

// A rank whose rule has a momentum of 0.5.
class Trainee {
 public:
  Trainee(const SyncSpec& sync, const Setting& setting, comm::Communicator& comm)
      : comm_(comm), replica_(comm.rank(), 0.5F, setting.padding)
  {
    if (setting.shares_memory) {
      memory_ = std::make_unique<comm::SharedVectors>(comm, comm::SharedVectors::Shape{replica_.weights().size(), 2});
      replica_.live_in(*memory_);
      comm.barrier();
    }
    strategy_ = make(sync, comm, replica_.node_slices(), setting.nodes);
    strategy_->start(replica_);
    comm.traffic() = {};
  }
  void train_to(std::int64_t step)
  {
    for (; replica_.number <= step; ++replica_.number) outcome_.losses.push_back(strategy_->step(replica_, diary_));
  }
  // As from a checkpoint, which has rank 0's state of what is equal on all ranks.
  void go_on_from(Trainee& other)
  {
    std::ranges::copy(other.replica_.weights(), replica_.weights().begin());
    replica_.set_velocity(other.replica_.velocity());
    replica_.number = other.replica_.number;
    const auto kept = other.strategy_->state(), restored = strategy_->state();
    REQUIRE(kept.size() == restored.size());
    for (std::size_t s = 0; s < kept.size(); ++s) {
      std::ranges::copy(kept[s].values, restored[s].values.begin());
      if (!kept[s].per_rank) comm_.broadcast_record(restored[s].values);
    }
  }
  Outcome outcome()
  {
    outcome_.weights = copy_of(replica_.weights());
    outcome_.velocity = replica_.velocity();
    outcome_.phases = diary_.text;
    outcome_.traffic = comm_.traffic();
    if (strategy_->has_centre()) {
      outcome_.centre.resize(outcome_.weights.size());
      strategy_->read_centre(replica_, outcome_.centre);
    }
    CHECK(comm_.traffic().bytes == outcome_.traffic.bytes); // reading it is not counted
    comm_.barrier();                                        // others may still read
    return outcome_;
  }

 private:
  comm::Communicator& comm_;
  ManyTensors replica_;
  std::unique_ptr<comm::SharedVectors> memory_;
  std::unique_ptr<Strategy> strategy_;
  Diary diary_;
  Outcome outcome_;
};

inline Outcome train(const SyncSpec& sync, std::int64_t steps, const Setting& setting = {})
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainee trainee(sync, setting, comm);
  trainee.train_to(steps);
  return trainee.outcome();
}

// Stopped after a step, and taken up again.
inline Outcome train_in_two(const SyncSpec& sync, std::int64_t stop, std::int64_t steps)
{
  comm::Communicator comm(MPI_COMM_WORLD);
  Trainee first(sync, {}, comm), second(sync, {}, comm);
  first.train_to(stop);
  second.go_on_from(first);
  second.train_to(steps);
  return second.outcome();
}

} // namespace dt::sync::test
