#include "engine/data/data_sets.hpp"
#include "engine/data/idx.hpp"

namespace dt::data {

Sources open_mnist(const DataSpec& spec, const std::filesystem::path& folder)
{
  // The usual constants of MNIST's 60,000 training images.
  return make_byte_sources(read_idx_sets(spec.name, folder), {{0.1307f, 0.3081f}}, spec, folder);
}

} // namespace dt::data
