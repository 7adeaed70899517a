#include "engine/data/cifar.hpp"
#include "engine/data/data_sets.hpp"

namespace dt::data {

Sources open_shapes(const DataSpec& spec, const std::filesystem::path& folder)
{
  // Constants of the 20,000 training images of seed 1; other seeds and the three colours change only the third digit.
  return make_byte_sources(read_cifar_sets(spec.name, folder, cifar10_layout()), {{0.5f, 0.267f}, {0.5f, 0.267f}, {0.5f, 0.267f}},
                           spec, folder);
}

} // namespace dt::data
