#include "engine/sync/exchange/gradient_sums.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/sync/exchange/buckets.hpp"
#include "engine/sync/exchange/isolated.hpp"
#include "engine/sync/exchange/node_step.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace dt::sync {
namespace {

// Returns the position of the first padding behind a tensor of the bucket that has at least `floats` floats.
std::optional<std::size_t> find_padding(std::span<const Range> tensors, Range bucket, std::size_t floats)
{
  for (std::size_t t = 0; t < tensors.size() && tensors[t].begin < bucket.end; ++t) {
    const auto next = t + 1 < tensors.size() ? tensors[t + 1].begin : bucket.end;
    if (tensors[t].begin >= bucket.begin && tensors[t].end + floats <= next) return tensors[t].end;
  }
  return std::nullopt;
}

} // namespace

GradientSums::GradientSums(const StrategyParts& parts, comm::Allreduce& allreduce)
    : parts_(parts), allreduce_(allreduce), exchanges_(make_exchanges(parts)), noise_(parts.noise_every, parts.comm.size())
{
}

void GradientSums::plan(Replica& replica)
{
  if (!buckets_.empty()) return;
  gradients_ = gradients_of(replica);
  const auto bytes = parts_.node_slices != nullptr ? std::numeric_limits<std::size_t>::max()
                                                   : bucket_bytes(parts_.sync, allreduce_.bucket_bytes());
  buckets_ = plan_buckets(replica.tensors(), gradients_.size(), bytes);
  ready_s_.assign(buckets_.size(), 0);
  // bfloat16 keeps only 8 significant bits, too few for the loss.
  if (parts_.sync.wire == Wire::float32 && !buckets_.empty() && !gradients_.can_sum_on_device())
    loss_place_ = find_padding(replica.tensors(), buckets_.back(), figures());
}

BatchLoss GradientSums::compute(Replica& replica, PhaseClock& clock)
{
  plan(replica);
  noise_.begin_step(replica);
  clock_ = &clock;
  lowest_ = gradients_.size();
  begun_ = 0;
  begin_s_ = comm::monotonic_s();
  parts_.comm.activity().enter(comm::Doing::works, "computes gradients");
  try {
    const bool overlaps = parts_.sync.progress != ProgressMode::none && parts_.node_slices == nullptr;
    const auto loss = replica.compute(overlaps ? this : nullptr);
    computed();
    gradients_ = gradients_of(replica);
    return loss;
  } catch (...) {
    exchanges_->clear(); // other ranks take part in the begun sums, so they must complete even after an error here
    throw;
  }
}

// The buckets that are still to be sent are complete only now.
void GradientSums::computed()
{
  const double seconds = comm::monotonic_s() - begin_s_;
  for (std::size_t b = begun_; b < ready_s_.size(); ++b) ready_s_[b] += seconds;
  computed_s_ += seconds;
  ++measured_steps_;
}

void GradientSums::begin_measuring()
{
  std::ranges::fill(ready_s_, 0.0);
  computed_s_ = 0;
  measured_steps_ = 0;
  noise_.forget();
}

std::vector<BucketRecord> GradientSums::buckets() const
{
  std::vector<BucketRecord> records;
  const auto steps = static_cast<double>(measured_steps_);
  for (std::size_t b = 0; measured_steps_ > 0 && b < buckets_.size(); ++b)
    records.push_back({.bytes = static_cast<std::int64_t>(buckets_[b].size() * sizeof(float)),
                       .ready_s = ready_s_[b] / steps,
                       .lead_s = (computed_s_ - ready_s_[b]) / steps});
  return records;
}

// Begins sums of complete buckets, except the last one: it also carries the loss, which is known only after the pass.
void GradientSums::gradients_ready(Range tensor)
{
  lowest_ = tensor.begin;
  note_ready();
  if (!exchanges_->is_polled()) return begin_buckets(buckets_.size() - 1);
  clock_->begin_communication();
  begin_buckets(buckets_.size() - 1);
  exchanges_->advance();
  clock_->end_communication();
}

// Adds the time of the buckets that have just become complete.
void GradientSums::note_ready()
{
  const double seconds = comm::monotonic_s() - begin_s_;
  for (std::size_t b = begun_; b + 1 < buckets_.size() && buckets_[b].begin >= lowest_; ++b) ready_s_[b] += seconds;
}

void GradientSums::begin_buckets(std::size_t end)
{
  for (; begun_ < end && buckets_[begun_].begin >= lowest_; ++begun_) {
    const auto bucket = buckets_[begun_];
    if (noise_.measures()) noise_.add_own(values_at(gradients_, bucket).read(), bucket.begin);
    if (bucket == buckets_.back()) write_figures();
    exchanges_->begin(sum_exchange(allreduce_, parts_.comm, values_at(gradients_, bucket)));
  }
}

// The loss is sent in the padding, which costs no extra message. Without padding it is a separate sum after the buckets.
void GradientSums::begin_last(const BatchLoss& loss)
{
  const auto samples = static_cast<double>(loss.samples);
  loss_sums_ = {loss.mean * samples, samples};
  lowest_ = 0;
  begin_buckets(buckets_.size());
  if (!loss_place_ && sums_loss())
    exchanges_->begin({[this] { parts_.comm.sum_record(std::span(loss_sums_).first(figures())); }});
}

// Called when the squares of all buckets are known, before the last one is sent.
void GradientSums::write_figures()
{
  loss_sums_[2] = noise_.own();
  if (!loss_place_) return;
  for (std::size_t i = 0; i < figures(); ++i) gradients_.host()[*loss_place_ + i] = static_cast<float>(loss_sums_[i]);
}

double GradientSums::update(const BatchLoss& loss, Replica& replica, PhaseClock& clock)
{
  if (parts_.node_slices != nullptr)
    return update_in_node(loss, loss_place_.has_value(), *parts_.node_slices, noise_, parts_.comm, clock);
  begin_last(loss);
  const bool whole = parts_.updates_whole;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    // g <- sum_i g^i
    wait_for(b, clock);
    if (b + 1 == buckets_.size()) take_loss();
    if (noise_.measures()) noise_.add_sum(values_at(gradients_, buckets_[b]).read(), buckets_[b].begin);
    // W <- opt(W, g / P)
    if (!whole) update_range(buckets_[b], replica, clock);
  }
  if (whole) update_range({0, gradients_.size()}, replica, clock);
  return mean_loss(clock);
}

void GradientSums::take_loss()
{
  if (!loss_place_) return;
  for (std::size_t i = 0; i < figures(); ++i)
    loss_sums_[i] = static_cast<double>(std::exchange(gradients_.host()[*loss_place_ + i], 0.0F));
}

void GradientSums::update_range(Range range, Replica& replica, PhaseClock& clock)
{
  clock.begin_update();
  replica.update(range, 1.0F / static_cast<float>(parts_.comm.size()));
  clock.end_update();
}

void GradientSums::wait_for(std::size_t bucket, PhaseClock& clock)
{
  parts_.comm.activity().enter(comm::Doing::waits, "waits for a sum of gradients");
  clock.begin_communication();
  exchanges_->wait(bucket);
  clock.end_communication();
  parts_.comm.activity().enter(comm::Doing::works, "updates weights");
}

double GradientSums::mean_loss(PhaseClock& clock)
{
  if (!loss_place_ && sums_loss()) wait_for(buckets_.size(), clock);
  if (auto* trace = parts_.comm.trace())
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      const auto [begin_s, end_s] = exchanges_->times(b);
      trace->add({"bucket", "buckets", begin_s, end_s, static_cast<std::int64_t>(buckets_[b].size() * sizeof(float))});
    }
  exchanges_->clear();
  allreduce_.end_step();
  noise_.end_step(loss_sums_[2], noise_.sum());
  return loss_sums_[0] / loss_sums_[1];
}

double GradientSums::isolated_s(Replica& replica)
{
  plan(replica);
  if (parts_.node_slices != nullptr) return isolated_in_node_s(parts_.node_slices->memory(), parts_.comm);
  return measure_isolated_sums_s(parts_.comm, allreduce_, buckets_, replica);
}

std::vector<std::pair<std::string, std::string>> GradientSums::facts() const { return facts_of(&allreduce_, *exchanges_); }

} // namespace dt::sync
