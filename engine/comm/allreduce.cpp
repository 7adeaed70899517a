#include "engine/comm/allreduce.hpp"

#include <algorithm>

namespace dt::engine {
namespace {

// For algorithms that cannot be advanced: all is done by the call that waits.
class LateSum : public PendingSum {
public:
  LateSum(Allreduce& allreduce, std::span<float> values) : allreduce_(allreduce), values_(values) {}
  bool advance() override { return done_; }
  void wait() override
  {
    if (!done_) allreduce_.sum(values_);
    done_ = true;
  }

private:
  Allreduce& allreduce_;
  std::span<float> values_;
  bool done_ = false;
};

} // namespace

void Allreduce::sum(std::span<const float> values, std::span<float> result)
{
  std::copy(values.begin(), values.end(), result.begin());
  sum(result);
}

std::unique_ptr<PendingSum> Allreduce::begin(std::span<float> values) { return std::make_unique<LateSum>(*this, values); }

} // namespace dt::engine
