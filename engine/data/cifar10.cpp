#include "engine/data/cifar.hpp"
#include "engine/data/data_sets.hpp"

namespace dt::data {

Sources open_cifar10(const DataSpec& spec, const std::filesystem::path& folder)
{
  // The usual constants of CIFAR-10's 50,000 training images.
  return make_byte_sources(read_cifar_sets(spec.name, folder, cifar10_layout()),
                           {{0.4914f, 0.2470f}, {0.4822f, 0.2435f}, {0.4465f, 0.2616f}}, spec, folder);
}

} // namespace dt::data
