#include "engine/data/data_sets.hpp"
#include "engine/data/idx.hpp"

namespace dt::data {

Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder)
{
  // Constants of the 20,000 training images of seed 1; other seeds change only the fourth digit.
  return make_byte_sources(read_idx_sets(spec.name, folder, 10), {{0.133f, 0.238f}}, spec, folder);
}

} // namespace dt::data
