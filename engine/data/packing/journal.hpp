// PackJournal: which parts of a set are packed, so that packing goes on after an interruption.
//
//   file    = { frame }, the first with a JournalHeader, each other with a PartResult
//   frame   = u32 bytes, u64 XXH3-64 of the content, content (CBOR)       numbers are little-endian
//
// A frame that is cut short or damaged ends the journal; what follows it was never complete.
#pragma once

#include "core/files/descriptor.hpp"
#include "engine/data/packing/content_facts.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::data {

// What a journal belongs to.
struct JournalHeader {
  std::string source, options; // as in PackedDescription
  std::string stamp;           // of the source
  std::int64_t items = 0, parts = 0;
  bool operator==(const JournalHeader&) const = default;
};

// What is known about a part when its records are in the file.
struct PartResult {
  std::int64_t part = 0;
  std::vector<std::uint64_t> hashes; // of its records, in the order of its items; 0 for corrupt ones
  std::vector<CorruptItem> corrupt;
  PixelSums sums;   // of its training images
  ImageSizes sizes; // of its images
  ContentFacts facts;
};

// What a journal holds.
struct JournalContent {
  JournalHeader header;
  std::vector<PartResult> parts;
  std::uint64_t bytes = 0; // up to the end of the last complete frame
};

// Nothing if there is no journal, or none with a complete header.
std::optional<JournalContent> read_journal(const std::filesystem::path& path);

// Appends to a journal.
class PackJournal {
 public:
  // Starts a new journal, or goes on behind the complete frames of `content`. Throws an environment error.
  PackJournal(const std::filesystem::path& path, const JournalHeader& header, const std::optional<JournalContent>& content);
  // Appends the results and syncs the journal. The records must be on the disk already.
  void append(const std::vector<PartResult>& results);

 private:
  void append_frame(const std::string& content);
  std::filesystem::path path_;
  Descriptor file_;
};

} // namespace dt::data
