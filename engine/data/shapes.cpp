#include "engine/data/cifar.hpp"
#include "engine/data/data_sets.hpp"

namespace dt::engine {

Sources open_shapes(const DataSpec& spec, const std::filesystem::path& folder)
{
  return make_byte_sources(read_cifar_sets(spec.name, folder, cifar10_layout()), {{0.5f, 0.25f}, {0.5f, 0.25f}, {0.5f, 0.25f}},
                           spec, folder);
}

} // namespace dt::engine
