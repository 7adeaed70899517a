// Natural sort order for labels.
#pragma once

#include <string>
#include <string_view>

namespace dt {

// Returns a sort key: ordered by their keys, texts have their decimal numbers in numerical order ("period=4" before "period=16",
// "rate=1e-05" before "rate=0.1"). A minus sign is part of a number at the beginning of the text and after one of "=,[ ".
std::string natural_key(std::string_view text);

} // namespace dt
