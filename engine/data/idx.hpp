// IDX, MNIST's file format: a big-endian header (magic 0x00 0x00 type dimensions, then a 32-bit size per dimension), then bytes.
#pragma once

#include "engine/data/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dt::data {

// Reads MNIST's four files from a folder: {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte. Each may be plain or
// end in .gz, and may have a dot instead of the dash before idx; if several exist, the order is dash, dash with .gz, dot, dot
// with .gz. The number of classes is `classes`, or one more than the largest training label; larger labels are refused. Throws a
// recipe error with file, content and expectation for anything else.
ImageSets read_idx_sets(std::string_view data_set, const std::filesystem::path& folder, std::optional<std::int64_t> classes = {});

} // namespace dt::data
