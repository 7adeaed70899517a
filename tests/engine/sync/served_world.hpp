// A replica whose every number depends on all that went before, strategies with servers over it, and what they leave behind.
#pragma once

#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/served_strategy.hpp"
#include "tests/engine/sync/replicas.hpp"

#include <random>
#include <sstream>
#include <thread>

namespace dt::sync::test {

inline double rate_at(std::int64_t step) { return 0.2 / (1 + 0.1 * static_cast<double>(step)); }

// Four tensors, one of them shorter than a server's smallest part and with padding behind; momentum mu in the rule. The gradient
// depends on the worker, the step and all weights, so an exchange out of order, or of a part, changes every bit that follows.
class ChaoticReplica : public Replica {
 public:
  static constexpr std::size_t size = 224;
  explicit ChaoticReplica(std::int64_t worker, float momentum = 0) : worker_(worker), momentum_(momentum)
  {
    for (const auto& tensor : tensors_)
      for (std::size_t i = tensor.begin; i < tensor.end; ++i)
        weights_[i] = static_cast<float>(i % 7) - 3 + static_cast<float>(worker);
  }
  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  BatchLoss compute(GradientListener* /*listener*/) override
  {
    if (pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    float sum = 0;
    for (const float weight : weights_) sum += weight;
    for (const auto& tensor : tensors_)
      for (std::size_t i = tensor.begin; i < tensor.end; ++i)
        gradients_[i] =
            weights_[i] - static_cast<float>((worker_ * 31 + number * 17 + static_cast<std::int64_t>(i) * 5) % 13) + 0.001F * sum;
    return {static_cast<double>(worker_), 1};
  }
  using Replica::update;
  void update(Range range, float /*gradient_factor*/) override { apply(range, weights_, gradients_, rate_at(number)); }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double rate) override
  {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      velocity_[i] = momentum_ * velocity_[i] - static_cast<float>(rate) * gradients[i];
      weights[i] += velocity_[i];
    }
  }
  Step step() const override { return {number, rate_at(number), 0}; }
  std::span<float> velocity() { return velocity_; }

  std::int64_t number = 1; // of the step in progress
  int pause_us = 0;        // that a gradient takes

 private:
  static constexpr std::array<Range, 4> tensors_{Range{0, 40}, Range{48, 55}, Range{64, 194}, Range{208, 224}};
  std::vector<float> weights_ = std::vector<float>(size), gradients_ = weights_, velocity_ = weights_;
  std::int64_t worker_;
  float momentum_;
};

// What a run of a strategy over all ranks leaves behind, on rank 0.
struct Aftermath {
  std::vector<std::vector<float>> weights;        // of every rank
  std::vector<std::vector<ServedUpdate>> updates; // of every rank
  Roles roles;
};

inline std::string text_of(const std::vector<ServedUpdate>& updates)
{
  std::ostringstream text;
  for (const auto& update : updates) text << update.worker << ' ' << update.staleness << ' ' << update.step << '\n';
  return text.str();
}

inline std::vector<ServedUpdate> updates_of(const std::string& text)
{
  std::istringstream lines(text);
  std::vector<ServedUpdate> updates;
  for (ServedUpdate update{}; lines >> update.worker >> update.staleness >> update.step;) updates.push_back(update);
  return updates;
}

// So many steps on every rank, from rank 0's weights; gradients take random times, the first worker's the longest.
inline Aftermath run(const SyncSpec& sync, std::int64_t steps, float momentum, comm::Communicator& comm)
{
  RunSpec spec;
  spec.sync = sync;
  const auto parts = make_parts(spec, comm, {});
  const auto strategy = make_strategy(parts);
  ChaoticReplica replica(parts.roles.is_server ? 100 : parts.roles.index, momentum);
  strategy->start(replica);
  Diary diary;
  std::minstd_rand random(static_cast<unsigned>(comm.rank() + 1) * 77U + static_cast<unsigned>(steps));
  for (replica.number = 1; replica.number <= steps; ++replica.number) {
    replica.pause_us = static_cast<int>(random() % 200) + (parts.roles.index == 0 ? 300 : 0);
    strategy->step(replica, diary);
  }
  Aftermath after;
  after.roles = parts.roles;
  const auto& updates = dynamic_cast<ServedStrategy&>(*strategy).updates();
  for (const auto& text : comm.gather_texts(text_of(updates))) after.updates.push_back(updates_of(text));
  std::vector<float> weights(replica.weights().begin(), replica.weights().end());
  for (int rank = 0; rank < comm.size(); ++rank) {
    comm.bring_to_root(weights, rank);
    after.weights.push_back(weights);
  }
  return after;
}

} // namespace dt::sync::test
