// Sequential replays: one thread that does what the recorded order of updates says, as the papers' equations have it.
#pragma once

#include "tests/engine/sync/served_world.hpp"

namespace dt::sync::test {

// Workers and servers as plain objects. A server's next update is made as soon as the worker it is of has come to that step.
class Replay {
 public:
  struct Outcome {
    std::vector<std::vector<float>> workers;
    std::vector<float> centre;
  };

  Replay(const SyncSpec& sync, std::int64_t steps, float momentum, const Aftermath& real)
      : sync_(sync), steps_(steps), real_(real)
  {
    const auto count = real.roles.workers.size();
    ChaoticReplica first(0);
    for (std::size_t w = 0; w < count; ++w) {
      workers_.push_back({ChaoticReplica(static_cast<std::int64_t>(w), elastic() ? momentum : 0), {}, {}, {}});
      std::ranges::copy(first.weights(), workers_.back().replica.weights().begin());
    }
    centre_ = ChaoticReplica(0, elastic() ? 0 : momentum);
    parts_ = parts_for_servers(centre_.tensors(), ChaoticReplica::size, real.roles.servers.size(),
                               elastic() ? Cut::floats : Cut::tensors);
    next_.resize(parts_.size());
  }

  Outcome run()
  {
    for (auto& worker : workers_) advance(worker);
    while (serve_one()) {
    }
    Outcome outcome;
    for (auto& worker : workers_) outcome.workers.emplace_back(worker.replica.weights().begin(), worker.replica.weights().end());
    outcome.centre.assign(centre_.weights().begin(), centre_.weights().end());
    return outcome;
  }
  // Whether every recorded update had its turn.
  bool is_complete() const
  {
    for (std::size_t s = 0; s < parts_.size(); ++s)
      if (next_[s] != log(s).size()) return false;
    return true;
  }

 private:
  struct Worker {
    ChaoticReplica replica;
    std::vector<float> sent, received;
    std::vector<bool> served; // by each server; empty: nothing is on its way
  };
  bool elastic() const { return is_elastic(sync_.strategy); }
  bool after() const { return sync_.elastic == ElasticForm::after; }
  const std::vector<ServedUpdate>& log(std::size_t server) const
  {
    return real_.updates[static_cast<std::size_t>(real_.roles.servers[server])];
  }
  float alpha(std::int64_t step) const { return static_cast<float>(sync_.rho > 0 ? sync_.rho * rate_at(step) : sync_.alpha); }

  // Until it has something for the servers, or is at its end.
  void advance(Worker& worker)
  {
    auto& replica = worker.replica;
    for (; replica.number <= steps_; ++replica.number) {
      replica.compute();
      const bool exchanges = !elastic() || replica.number % sync_.period == 0;
      if (elastic() && (after() || !exchanges)) replica.update();
      if (!exchanges) continue;
      const auto values = elastic() ? replica.weights() : replica.gradients();
      worker.sent.assign(values.begin(), values.end());
      worker.received.assign(values.size(), 0);
      worker.served.assign(parts_.size(), false);
      return;
    }
  }

  void finish(Worker& worker)
  {
    auto weights = worker.replica.weights();
    const float a = alpha(worker.replica.number);
    if (!elastic()) std::ranges::copy(worker.received, weights.begin());
    if (elastic() && !after()) worker.replica.update();
    // W <- W - alpha (W at the exchange - centre)
    for (std::size_t i = 0; elastic() && i < weights.size(); ++i) weights[i] -= a * (worker.sent[i] - worker.received[i]);
    worker.served.clear();
    ++worker.replica.number;
    advance(worker);
  }

  void serve(Worker& worker, std::size_t server)
  {
    const auto part = parts_[server];
    auto centre = centre_.weights();
    if (!elastic()) centre_.apply(part, centre, worker.sent, rate_at(worker.replica.number));
    for (std::size_t i = part.begin; i < part.end; ++i) {
      worker.received[i] = centre[i];
      if (elastic()) centre[i] += alpha(worker.replica.number) * (worker.sent[i] - centre[i]);
    }
    worker.served[server] = true;
  }

  bool serve_one()
  {
    for (std::size_t s = 0; s < parts_.size(); ++s) {
      if (next_[s] == log(s).size()) continue;
      const auto& update = log(s)[next_[s]];
      auto& worker = workers_[static_cast<std::size_t>(update.worker)];
      if (worker.served.empty() || worker.served[s] || worker.replica.number != update.step) continue;
      serve(worker, s);
      ++next_[s];
      if (std::ranges::all_of(worker.served, [](bool served) { return served; })) finish(worker);
      return true;
    }
    return false;
  }

  SyncSpec sync_;
  std::int64_t steps_;
  const Aftermath& real_;
  std::vector<Worker> workers_;
  ChaoticReplica centre_{0};
  std::vector<Range> parts_;
  std::vector<std::size_t> next_; // of each server's updates
};

} // namespace dt::sync::test
