// Labels in the order in which people count.
#pragma once

#include <string>
#include <string_view>

namespace dt::store {

// A key for sorting: texts in the order of their keys have their decimal numbers in numerical order ("period=4" before
// "period=16", "rate=1e-05" before "rate=0.1"). A minus belongs to a number at the beginning and after one of "=,[ ".
std::string natural_key(std::string_view text);

} // namespace dt::store
