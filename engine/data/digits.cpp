#include "engine/data/data_sets.hpp"
#include "engine/data/idx.hpp"

namespace dt::engine {

Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder)
{
  return make_byte_sources(read_idx_sets(spec.name, folder), {{0.1307f, 0.3081f}}, spec, folder);
}

} // namespace dt::engine
