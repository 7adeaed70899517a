#include "engine/sync/exchange/without_lock.hpp"

#include "engine/comm/vectors.hpp"
#include "engine/sync/exchange/elastic.hpp"

namespace dt::sync {

void read_without_lock(std::span<const float> centre, std::span<float> to) { comm::copy_to(centre, to); }

void add_without_lock(std::span<float> centre, std::span<const float> d) { add(centre, d); }

void apply_without_lock(Replica& replica, Range range, std::span<float> centre, std::span<const float> gradients,
                        double learning_rate)
{
  replica.apply(range, centre, gradients, learning_rate);
}

} // namespace dt::sync
