// ZipFile: the members of a zip archive, stored or deflated, also of archives and members above 4 GiB (zip64).
//
// The archive may come from an untrusted source: every size and offset in it is checked against the file. Fields are named as in
// PKWARE's APPNOTE, sections 4.3 to 4.5.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dt::data {

struct ZipMember {
  std::string name;
  bool is_deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, bytes = 0;
  std::uint64_t begin = 0; // of its content in the file
};

class ZipFile {
 public:
  // Reads the directory. Throws an environment error if the file cannot be read; a usage error with file and cause if it is not a
  // zip archive, is damaged, or has an encrypted member.
  explicit ZipFile(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }
  const std::vector<ZipMember>& members() const { return members_; }
  // Fills `bytes` from position `begin`. Throws a usage error if the file ends before.
  void read(std::uint64_t begin, std::string& bytes) const;
  // Makes the usage error "PATH: cause".
  Error damaged(std::string_view cause) const;

 private:
  struct Directory {
    std::uint64_t begin = 0, bytes = 0, members = 0;
  };
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  ZipMember read_entry(std::string_view entry) const;
  void find_content(ZipMember& member) const;

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<ZipMember> members_;
};

// Reads the content of a member from its beginning to its end. Compares the checksum when the end is reached.
class ZipStream {
 public:
  ZipStream(const ZipFile& file, const ZipMember& member); // both must outlive the stream
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;
  // Fills all of `bytes`. Throws a usage error if the content ends before or is damaged.
  void read(std::string& bytes);
  // Goes past `count` bytes.
  void skip(std::uint64_t count);
  std::uint64_t position() const { return position_; }

 private:
  struct Inflater;
  void read_packed();
  std::size_t inflate_into(char* to, std::size_t count);

  const ZipFile& file_;
  const ZipMember& member_;
  std::unique_ptr<Inflater> inflater_; // of deflated members
  std::string packed_;                 // the inflater's input
  std::uint64_t packed_position_ = 0, position_ = 0;
  std::uint32_t crc_ = 0;
};

} // namespace dt::data
