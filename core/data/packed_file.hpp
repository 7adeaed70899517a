// The file of a packed data set, which `dtctl data pack` writes: labelled images one after another, with an index.
//
//   file        = header padding { record } index names description
//   header      = 64 bytes: magic "dtpack1\n", u64 records, u64 index_begin, u64 names_begin, u64 description_begin,
//                 u64 file_bytes, u8[16] id                                    numbers are little-endian
//   padding     = zeros up to byte 4096, where the first record begins
//   record      = the bytes of one image: pixels (height x width x channels bytes, channels last), or a JPEG file
//   index       = { entry }, a PackedEntry a record, in the order of the records
//   names       = { name NUL }, a name a record, in the same order
//   description = json, see PackedDescription
//
// The records of training come first, then those of the test set. The id is the XXH3-128 hash of index, names and description.
// The index holds a hash of every record, so the id identifies the whole content, and reading it takes no look at the records.
#pragma once

#include "core/files/descriptor.hpp"
#include "core/maths/range.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Format of the records: the bytes of the pixels, or a JPEG file.
enum class PackedEncoding { pixels, jpeg };

// The description at the end of the file.
struct PackedDescription {
  PackedEncoding encoding = PackedEncoding::pixels;
  std::int64_t channels = 0;               // 1 or 3, the same for all images
  std::int64_t height = 0, width = 0;      // of all images; 0: they have different sizes
  std::int64_t min_side = 0, max_side = 0; // shortest and longest side of an image in the set
  std::int64_t train_samples = 0, test_samples = 0;
  std::vector<std::string> classes{};      // names, by label
  std::vector<double> mean{}, deviation{}; // of each channel's bytes / 255, over the training images
  std::int64_t skipped = 0;                // images of the source that could not be decoded and were left out
  std::string source{};                    // what was packed: "folder /data/flowers"
  std::string options{};                   // the options of `data pack` that change the content
};

// One record in the index.
struct PackedEntry {
  std::uint64_t begin = 0; // first byte in the file
  std::uint64_t hash = 0;  // XXH3-64 of the record's bytes (hash64)
  std::uint32_t bytes = 0;
  std::uint32_t label = 0;
  std::uint64_t name = 0; // position in the names
};
static_assert(sizeof(PackedEntry) == 32);

inline constexpr std::int64_t most_shown_samples = 1024; // that `data show` draws in one call
inline constexpr std::uint64_t packed_records_begin = 4096;
inline constexpr std::string_view packed_magic = "dtpack1\n"; // the first bytes of the file
inline constexpr std::string_view packed_extension = ".pack";

// An open packed set. Opening it takes the same time for any number of records. The index is read when it is first needed, and
// then takes 32 bytes of memory for each record; names stay in the file. Nothing is mapped into memory: a file that is shortened
// while it is in use would end the process by SIGBUS, and so it is an error that names the file. May be used from several
// threads.
class PackedFile {
 public:
  // Throws a recipe error with the path and the cause if there is no such file, or if it is not a complete packed set; an
  // environment error if it cannot be read.
  explicit PackedFile(const std::filesystem::path& path);
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const PackedDescription& description() const { return description_; }
  std::int64_t size() const { return static_cast<std::int64_t>(records_); }
  // The index. The first call reads it, and throws like the constructor if the file has become shorter or cannot be read.
  std::span<const PackedEntry> entries() const;
  const PackedEntry& entry(std::int64_t record) const { return entries()[static_cast<std::size_t>(record)]; }
  // Reads the name of one record from the file.
  std::string name(std::int64_t record) const;
  // Reads all names at once, in the order of the records.
  std::vector<std::string> names() const;
  // 32 hexadecimal digits.
  const std::string& id() const { return id_; }
  // Bytes of the whole file.
  std::uint64_t file_bytes() const { return file_bytes_; }
  int descriptor() const { return file_.get(); }

  // Hashes index, names and description again, and checks that every entry lies inside the file and has a label of a class.
  // Throws a recipe error if one of them has changed since the set was packed. Takes 1 ms per 100,000 records.
  void require_intact_index() const;
  // Reads a record into `bytes`, which is resized. Throws an environment error if the file cannot be read.
  void read(std::int64_t record, std::string& bytes) const;
  // Whether `bytes` is the record as it was packed.
  bool is_intact(std::int64_t record, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t file_bytes_ = 0, records_ = 0;
  std::uint64_t index_begin_ = 0, names_begin_ = 0, description_begin_ = 0;
  mutable std::once_flag has_entries_; // set when entries_ is filled
  mutable std::vector<PackedEntry> entries_;
  PackedDescription description_;
  std::string id_;
};

// Writes everything but the records into a file that holds them already, and syncs it: index, names and description from
// `records_end` on (rounded up to a multiple of 8), then the header. entries[i].name is set. names: one per entry. The caller
// renames the file when this has returned. Returns the id.
std::string finish_packed_file(int descriptor, const std::filesystem::path& path, std::uint64_t records_end,
                               std::span<PackedEntry> entries, std::span<const std::string> names,
                               const PackedDescription& description);

// The id of a packed set whose index is intact. Throws like PackedFile and require_intact_index.
std::string packed_id(const std::filesystem::path& path);

} // namespace dt
