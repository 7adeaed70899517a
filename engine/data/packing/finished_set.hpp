// Tells whether a finished set is the one that is to be packed.
#pragma once

#include "engine/data/packing/pack.hpp"
#include "engine/data/packing/plan.hpp"

#include <filesystem>
#include <optional>

namespace dt::data {

// Nothing if there is no file. The set's facts if it was packed with the same options, has the images of the source, and no file
// of the source is newer. Throws a usage error if there is another set or another file.
std::optional<PackResult> equal_set(const std::filesystem::path& path, const PackPlan& plan, const SourceListing& listing);

} // namespace dt::data
