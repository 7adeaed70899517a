#include "engine/comm/allreduce/allreduce.hpp"

#include "engine/comm/vectors.hpp"

#include <utility>

namespace dt::comm {
namespace {

class LateCall : public PendingSum {
 public:
  explicit LateCall(std::function<void()> call) : call_(std::move(call)) {}
  bool advance() override { return !call_; }
  void wait() override
  {
    if (call_) call_();
    call_ = nullptr;
  }

 private:
  std::function<void()> call_;
};

} // namespace

std::int64_t bandwidth_optimal_bytes(std::size_t bytes, int ranks)
{
  return 2 * static_cast<std::int64_t>(bytes) * (ranks - 1) / ranks;
}

std::unique_ptr<PendingSum> call_when_waited_for(std::function<void()> call)
{
  return std::make_unique<LateCall>(std::move(call));
}

void Allreduce::sum(std::span<const float> values, std::span<float> result)
{
  copy_to(values, result);
  sum(result);
}

// Ranks may wait in different orders, but each collective call must match the other ranks' call with the same number. So the
// calls are made in the order of begin(), whichever sum is waited for first.
class Allreduce::Late : public PendingSum {
 public:
  Late(Allreduce& home, std::span<float> values)
      : home_(home), number_(home.late_done_ + static_cast<std::int64_t>(home.late_.size()))
  {
    home_.late_.push_back(values);
  }
  bool advance() override { return home_.late_done_ > number_; }
  void wait() override
  {
    while (!advance()) {
      home_.sum(home_.late_.front());
      home_.late_.pop_front();
      ++home_.late_done_;
    }
  }

 private:
  Allreduce& home_;
  std::int64_t number_;
};

std::unique_ptr<PendingSum> Allreduce::begin(std::span<float> values) { return std::make_unique<Late>(*this, values); }

} // namespace dt::comm
