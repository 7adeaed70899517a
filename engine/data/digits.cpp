#include "engine/data/data_sets.hpp"
#include "engine/data/idx.hpp"

namespace dt::engine {

Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder)
{
  // Of the 20,000 training images of seed 1; other seeds differ in the fourth digit.
  return make_byte_sources(read_idx_sets(spec.name, folder, 10), {{0.133f, 0.238f}}, spec, folder);
}

} // namespace dt::engine
