// `diloco`: every rank makes its own steps, and every H steps (sync.period) an outer optimizer moves the weights at which all
// ranks began by the mean of what they have done since. All begin again there. [Douillard2023, DiLoCo]
//
// With sync.outer.fragments and sync.outer.delay it is Streaming DiLoCo [Douillard2025]: the fragments of the model have their
// periods one after another, and a sum is used `delay` steps after the end of its period. In the paper a sum may be under way for
// all of these steps. Here nothing is under way between two steps, so a sum is cut into as many pieces as there are steps, and
// each of them is made during the computation of one step (our reading).
//
// The state of the workers' update rule (a velocity) is kept on each rank and not averaged, as in the paper.
#include "engine/comm/vectors.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/exchanges.hpp"
#include "engine/sync/exchange/fragments.hpp"
#include "engine/sync/exchange/isolated.hpp"
#include "engine/sync/exchange/outer_optimizer.hpp"

#include <algorithm>
#include <optional>

namespace dt::sync {
namespace {

class Diloco : public Strategy {
 public:
  // Throws a recipe error for a delay that is not shorter than the period. Collective.
  explicit Diloco(const StrategyParts& parts);
  // Throws a recipe error if there are more fragments than tensors, or if the wire would round running statistics.
  void start(Replica& replica) override;
  // Returns the loss of this rank's batch, because every rank trains its own model.
  double step(Replica& replica, PhaseClock& clock) override;
  bool meets(const Replica& replica) const override;
  // "centre": the outer parameters. "pseudo_gradients": with a delay, the sums that are under way: this rank's summands and, of
  // the pieces that are already made, the sums.
  std::vector<StrategyState> state() override;
  bool replicated() const override { return false; }
  // The outer parameters are the model that DiLoCo trains and evaluates.
  bool has_centre() const override { return true; }
  void read_centre(Replica&, std::span<float> centre) override { comm::copy_to(outer_.read(), centre); }
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override { return facts_of(allreduce_.get(), *exchanges_); }

 private:
  std::int64_t delay() const { return parts_.sync.outer.delay; }
  void begin_pieces(std::int64_t step, PhaseClock& clock);
  void begin_sums(Range range);
  void end_sums(PhaseClock& clock);
  void update(Replica& replica, PhaseClock& clock);
  void take_pseudo_gradient(Range range, Replica& replica, PhaseClock& clock);
  void move_outer(Range range, std::int64_t period, Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<comm::Allreduce> allreduce_;
  std::vector<Range> tensors_;
  std::vector<Fragment> fragments_;
  OwnVector outer_, pseudo_gradient_;
  std::optional<OuterOptimizer> optimizer_;
  std::size_t begun_ = 0;                // sums of the current step
  std::unique_ptr<Exchanges> exchanges_; // last member: its thread uses the others
};

Diloco::Diloco(const StrategyParts& parts) : parts_(parts), allreduce_(comm::make_allreduce(parts.allreduce(), parts.comm))
{
  require_delay_below_period(parts.sync);
  if (delay() == 0) parts_.sync.progress = ProgressMode::none; // the sums are waited for at once
  exchanges_ = make_exchanges(parts_);
}

void Diloco::start(Replica& replica)
{
  parts_.comm.broadcast(replica.weights());
  require_exact_statistics(parts_.sync, replica.statistics());
  tensors_.assign(replica.tensors().begin(), replica.tensors().end());
  fragments_ = plan_fragments(tensors_, weights_of(replica).size(), parts_.sync);
  auto outer = comm::copy_of(weights_of(replica).read());
  outer_ = parts_.sync.outer.rule == OuterRule::adam ? OwnVector(std::move(outer)) : OwnVector(std::move(outer), replica);
  pseudo_gradient_ = OwnVector(comm::Floats(outer_.size()), replica);
  optimizer_.emplace(parts_.sync.outer, replica);
}

bool Diloco::meets(const Replica& replica) const
{
  const auto step = replica.step().number;
  return std::ranges::any_of(fragments_, [&](const Fragment& fragment) {
    return delay() == 0 ? period_ending_at(step, fragment, parts_.sync) > 0 : piece_at(step, fragment, parts_.sync) >= 0;
  });
}

std::vector<StrategyState> Diloco::state()
{
  std::vector<StrategyState> all{{"centre", outer_.host(), false}};
  for (auto& state : optimizer_->state()) all.push_back(state);
  if (delay() > 0) all.push_back({"pseudo_gradients", pseudo_gradient_.host(), true});
  return all;
}

double Diloco::step(Replica& replica, PhaseClock& clock)
{
  const auto step = replica.step().number;
  // d <- sum_i d^i, a piece of every fragment whose period has ended at most `delay` steps ago
  begin_pieces(step, clock);
  // g^i <- gradient of the loss at W^i over rank i's batch
  const BatchLoss loss = compute_beside(*exchanges_, replica, parts_.comm, clock);
  end_sums(clock);
  // W^i <- opt(W^i, g^i)
  update(replica, clock);
  for (const auto& fragment : fragments_) {
    if (period_ending_at(step, fragment, parts_.sync) > 0) {
      // d^i <- Wo - W^i
      take_pseudo_gradient(fragment.range, replica, clock);
      // d <- sum_i d^i
      if (delay() == 0) begin_sums(fragment.range);
      end_sums(clock);
    }
    // Wo <- outer rule(Wo, d / P); W^i <- mix W^i + (1 - mix) Wo
    if (const auto period = period_ending_at(step - delay(), fragment, parts_.sync); period > 0)
      move_outer(fragment.range, period, replica, clock);
  }
  return loss.mean;
}

void Diloco::update(Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  replica.update();
  clock.end_update();
}

void Diloco::take_pseudo_gradient(Range range, Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  take_difference(pseudo_gradient_.at(range), values_at(weights_of(replica), range), outer_.at(range), -1);
  clock.end_update();
}

void Diloco::move_outer(Range range, std::int64_t period, Replica& replica, PhaseClock& clock)
{
  const auto mix = static_cast<float>(parts_.sync.outer.mix);
  const auto weights = values_at(weights_of(replica), range), outer = outer_.at(range);
  clock.begin_update();
  optimizer_->step(range, outer_, pseudo_gradient_, 1.0F / static_cast<float>(parts_.comm.size()), period);
  if (mix == 0)
    assign(weights, outer);
  else
    pull_worker(weights, outer, 1 - mix);
  clock.end_update();
}

void Diloco::begin_pieces(std::int64_t step, PhaseClock& clock)
{
  for (const auto& fragment : fragments_) {
    const auto piece = piece_at(step, fragment, parts_.sync);
    if (piece < 0) continue;
    clock.begin_communication();
    begin_sums(piece_of(fragment.range, piece, delay()));
    clock.end_communication();
  }
}

void Diloco::begin_sums(Range range)
{
  for (const auto& message : messages_of(range, tensors_, parts_.sync)) {
    exchanges_->begin(sum_exchange(*allreduce_, parts_.comm, pseudo_gradient_.at(message)));
    ++begun_;
  }
}

void Diloco::end_sums(PhaseClock& clock)
{
  if (begun_ == 0) return;
  parts_.comm.activity().enter(comm::Doing::waits, "waits for the sum of pseudo-gradients");
  clock.begin_communication();
  for (std::size_t i = 0; i < begun_; ++i) exchanges_->wait(i);
  exchanges_->clear();
  allreduce_->end_step();
  clock.end_communication();
  begun_ = 0;
}

double Diloco::isolated_communication_s(Replica& replica)
{
  std::vector<Range> messages;
  const auto pieces = std::max<std::int64_t>(1, delay());
  for (const auto& fragment : fragments_)
    for (std::int64_t piece = 0; piece < pieces; ++piece)
      std::ranges::copy(messages_of(piece_of(fragment.range, piece, pieces), tensors_, parts_.sync),
                        std::back_inserter(messages));
  return measure_isolated_sums_s(parts_.comm, *allreduce_, messages, replica) / static_cast<double>(parts_.sync.period);
}

} // namespace

std::unique_ptr<Strategy> make_diloco(const StrategyParts& parts) { return std::make_unique<Diloco>(parts); }

} // namespace dt::sync
