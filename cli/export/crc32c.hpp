// CRC-32C, the checksum of event files: polynomial 0x1EDC6F41, reflected, as in iSCSI (RFC 3720).
#pragma once

#include <cstdint>
#include <string_view>

namespace dt::cli {

std::uint32_t crc32c(std::string_view bytes);

// The checksum as event files store it. Stored sums are changed, because the sum of bytes that hold their own sum is always the
// same:  masked = rotate_right(crc, 15) + 0xa282ead8.
std::uint32_t masked_crc32c(std::string_view bytes);

} // namespace dt::cli
