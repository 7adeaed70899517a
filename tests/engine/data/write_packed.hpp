// Packed sets for tests.
#pragma once

#include "core/data/packed_file.hpp"
#include "core/hash.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>

namespace dt::test {

// Writes a packed set with these records, of which the first description.train_samples are training records. Record i has label i
// modulo the number of classes, and the name "sample-I". Returns the id.
inline std::string write_packed(const std::filesystem::path& path, const std::vector<std::string>& records,
                                const PackedDescription& description)
{
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << std::string(packed_records_begin, '\0');
  std::vector<PackedEntry> entries;
  std::vector<std::string> names;
  std::uint64_t end = packed_records_begin;
  for (const auto& record : records) {
    stream << record;
    const auto label = static_cast<std::uint32_t>(entries.size() % description.classes.size());
    entries.push_back({end, hash64(record), static_cast<std::uint32_t>(record.size()), label, 0});
    names.push_back("sample-" + std::to_string(names.size()));
    end += record.size();
  }
  stream.close();
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return finish_packed_file(file.get(), path, end, entries, names, description);
}

// A set of grey 2 x 3 pixel images with ten classes; all pixels of image i are i modulo 256.
inline std::string write_numbered_pixels(const std::filesystem::path& path, std::int64_t train, std::int64_t test)
{
  std::vector<std::string> records;
  for (std::int64_t i = 0; i < train + test; ++i) records.emplace_back(6, static_cast<char>(i % 256));
  PackedDescription set{.encoding = PackedEncoding::pixels, .channels = 1, .height = 2, .width = 3, .min_side = 2, .max_side = 3};
  set.train_samples = train;
  set.test_samples = test;
  for (int c = 0; c < 10; ++c) set.classes.push_back("class " + std::to_string(c));
  set.mean = {0.0};
  set.deviation = {1.0 / 255};
  return write_packed(path, records, set);
}

// Changes one byte of a record.
inline void damage_record(const std::filesystem::path& path, std::int64_t record)
{
  const auto begin = PackedFile(path).entry(record).begin;
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(static_cast<std::streamoff>(begin));
  const char changed = static_cast<char>(stream.get() ^ 1);
  stream.seekp(static_cast<std::streamoff>(begin));
  stream.put(changed);
}

} // namespace dt::test
