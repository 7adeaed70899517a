#include "engine/train/agreement/wish_agreement.hpp"

namespace dt::train {
namespace {

// Approximate time between looks. Asynchronous ranks can drift apart by this time, and act on a wish up to twice this time later.
constexpr double look_s = 0.25, asynchronous_look_s = 1.5;

} // namespace

WishAgreement::WishAgreement(const Options& options, const TrainingClock& clock, comm::Communicator& comm)
    : asynchronous_(options.asynchronous), clock_(clock),
      lookout_(options.steps_done, options.asynchronous ? asynchronous_look_s : look_s), council_(comm)
{
}

// Rank 0 alone determines the number of steps to the next look. Asynchronous ranks read the wishes handed in at the previous
// look, and hand in new ones after the checkpoint that those asked for.
void WishAgreement::look(std::int64_t step, Overseer& overseer, const std::function<void()>& write_checkpoint)
{
  const auto proposal = lookout_.proposal(clock_.training_s() - looked_s_);
  if (!asynchronous_) council_.hand_in(overseer.wish(), proposal);
  const auto agreed = council_.read();
  wish_ = agreed.wish;
  if (wish_.stops() && !wish_.cancel) wish_.cancel = is_cancelled(overseer);
  lookout_.agree(step, agreed.interval);
  if (wish_.asks_for_checkpoint()) write_checkpoint();
  if (asynchronous_) council_.hand_in(overseer.wish(), proposal);
  looked_s_ = clock_.training_s();
}

// After all ranks have agreed to stop: agrees whether the reason is a cancellation. Collective.
bool WishAgreement::is_cancelled(Overseer& overseer)
{
  council_.hand_in({.cancel = overseer.is_cancelled()}, 1);
  return council_.read().wish.cancel;
}

} // namespace dt::train
