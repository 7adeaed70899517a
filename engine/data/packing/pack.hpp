// Packs a source of labelled images into one file (core/data/packed_file.hpp).
#pragma once

#include "core/data/packed_file.hpp"
#include "engine/data/packing/readers/source_reader.hpp"
#include "engine/data/packing/split.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dt::data {

struct PackOptions {
  SourceOptions source;
  std::filesystem::path output;           // "….pack"
  std::optional<PackedEncoding> encoding; // empty: jpeg if all images are JPEG files and no size is given, else pixels
  std::int64_t height = 0, width = 0;     // of all images, for pixels; 0: as they are
  std::int64_t channels = 0;              // 1 or 3; 0: as the images have them
  std::optional<std::array<std::uint8_t, 3>> background;        // behind transparent pixels; empty: white
  std::optional<std::pair<std::uint16_t, std::uint16_t>> range; // 16-bit values that become black and white; empty: 0 and 65535
  SplitOptions split;
  bool skip_corrupt = false;        // leave out images that cannot be decoded
  bool allow_empty_classes = false; // accept classes without images
  std::int64_t least_classes = 1;   // refuse a source with fewer; a network needs 2
  bool restart = false;             // discard what an earlier call with other options or another source left
  bool force = false;               // replace a finished set
  int threads = 0;                  // that decode; 0: one per core
  // Is called after every part with the numbers of images that are done and that there are. If it throws, packing stops, and
  // what is done stays for a later call.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

struct PackResult {
  bool was_there = false; // an equal set was there already; nothing was written
  std::string id{};
  std::uint64_t file_bytes = 0;
  PackedDescription description{};
  std::int64_t resumed = 0;           // images that an earlier call had packed
  std::vector<std::string> remarks{}; // sentences
};

// Writes the set. While it is written, OUTPUT.partial holds its records and OUTPUT.journal says which are done; both stay when
// packing is interrupted, and the next call with the same options and an unchanged source goes on. Equal sources and options give
// equal bytes for any number of threads. Throws a usage error if the source or the options are wrong, or if a set with other
// content is there already; an environment error if files cannot be read or written.
PackResult pack_data(const PackOptions& options);

} // namespace dt::data
