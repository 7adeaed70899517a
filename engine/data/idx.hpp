// IDX, the format of MNIST: a big-endian header (magic 0x00 0x00 type dimensions, then a 32-bit size a dimension) and bytes.
#pragma once

#include "engine/data/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dt::engine {

// MNIST's four files from a folder: {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte, each plain or with
// .gz, each also with a dot for the dash before idx; of several the first in that order. As many classes as given, else one more
// than the largest label of the training images; a label beyond them is refused.
// A recipe error that names the file, what it holds and what was expected, for anything else.
ImageSets read_idx_sets(std::string_view data_set, const std::filesystem::path& folder, std::optional<std::int64_t> classes = {});

} // namespace dt::engine
