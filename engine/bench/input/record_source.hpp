// A source that reads the records of a packed set and checks their hashes, but decodes nothing: to measure reading alone.
#pragma once

#include "engine/data/source.hpp"

#include <filesystem>
#include <memory>

namespace dt::bench {

// The training records of the set. Throws like open_sources.
std::unique_ptr<data::Source> open_records(const std::filesystem::path& file, bool is_direct);

// Removes the file's pages from the page cache, as far as nobody else uses them. Returns the share of the file that is still
// there.
double drop_from_cache(const std::filesystem::path& file);

} // namespace dt::bench
