// Whole numbers that are written as decimals: JSON, and so the recipes' schema, takes 2.0 and 2e3 as whole numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dt {

// The value of "2.0" or "2e3". Empty for text that is no number, has another fraction than 0 or exceeds 2^53.
std::optional<std::int64_t> whole_of_decimal(std::string_view text);

} // namespace dt
