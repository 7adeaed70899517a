// The description at the end of a packed set, as JSON.
#pragma once

#include "core/data/packed_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dt {

std::string packed_description_text(const PackedDescription& set);

// Throws an Error or an exception of the JSON library if the text is not such a description.
PackedDescription parse_packed_description(std::string_view text);

// False if the description cannot belong to a set of `records` records: its samples do not add up to them, or its channels,
// sizes, classes or statistics are impossible.
bool describes_records(const PackedDescription& set, std::uint64_t records);

} // namespace dt
