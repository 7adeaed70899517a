#include "engine/data/cifar.hpp"
#include "engine/data/data_sets.hpp"

namespace dt::data {

Sources open_cifar100(const DataSpec& spec, const std::filesystem::path& folder)
{
  const CifarLayout layout{"cifar-100-binary", {"train.bin"}, {"test.bin"}, {{"coarse label", 20}, {"fine label", 100}}};
  // The usual constants of CIFAR-100's 50,000 training images.
  return make_byte_sources(read_cifar_sets(spec.name, folder, layout),
                           {{0.5071f, 0.2673f}, {0.4865f, 0.2564f}, {0.4409f, 0.2762f}}, spec, folder);
}

} // namespace dt::data
