// Samples of a packed set, to look at.
#pragma once

#include "core/data/packed_file.hpp"
#include "engine/data/images/image.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::data {

struct SampleChoice {
  std::int64_t count = 16;
  std::string split;      // "train" or "test"; empty: both
  std::string class_name; // name or number of a class; empty: all
  std::uint64_t seed = 1;
};

// Records of the set that the seed chooses, ascending; all that match if they are fewer than `count`. Throws a usage error for an
// unknown class, with the names of similar ones, and if no record matches.
std::vector<std::int64_t> choose_samples(const PackedFile& file, const SampleChoice& choice);

// A record, decoded.
struct Sample {
  std::int64_t record = 0;
  Image image;
  std::string class_name, name;
};

// Decodes records. Throws a recipe error with the record's name and the cause if one is corrupt.
std::vector<Sample> read_samples(const PackedFile& file, const std::vector<std::int64_t>& records);

// The samples side by side with the names of their classes below, in colour or in grey on white.
Image contact_sheet(const std::vector<Sample>& samples);

// How a terminal shows pictures.
struct TerminalPicture {
  std::int64_t columns = 80;
  bool colour = false; // 24-bit colours; else characters of different darkness
};

// The samples as lines of text, with the names of their classes below.
std::string text_picture(const std::vector<Sample>& samples, const TerminalPicture& terminal);

} // namespace dt::data
