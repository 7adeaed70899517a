// Archives, through libarchive. ArchiveFile reads the members of a tar file, with or without gzip, or of a zip archive one after
// another; ZipWriter makes a zip archive in memory.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

struct archive;
struct archive_entry;

namespace dt::data {

enum class ArchiveKind { tar, zip };

class ArchiveFile {
 public:
  // Throws an environment error if the file cannot be opened; a usage error if it is not such an archive.
  ArchiveFile(const std::filesystem::path& path, ArchiveKind kind);

  // Goes on to the next regular file. Returns false after the last one. Tar files that lie one behind the other in the file are
  // read like one. Throws a usage error if the archive is damaged, or if anything else follows it.
  bool next();
  const std::string& name() const { return name_; }
  // According to the archive, which may be wrong. Allocate memory as the content arrives.
  std::uint64_t size() const { return size_; }
  // Number of bytes of the member that were read.
  std::uint64_t position() const { return position_; }
  // Whether the member was stored with holes (tar --sparse): it may unpack to any size, however small the tar file is.
  bool is_sparse() const { return is_sparse_; }
  // Members that next() has left out because they are links to other files, and the name of the first.
  std::int64_t links() const { return links_; }
  const std::string& first_link() const { return first_link_; }
  // Reads the next `count` bytes of the member. Throws a usage error if it ends before, or if it ends with them and its size or
  // its checksum (zip) is not the one that the archive states.
  void read(std::uint64_t count, std::string& bytes);
  // Reads the whole content of the member.
  void read(std::string& bytes) { read(size_, bytes); }
  // Reads and forgets the next `count` bytes.
  void skip(std::uint64_t count);
  // Makes the usage error "PATH: member NAME cause".
  Error refusal(std::string_view cause) const;

 private:
  struct Close {
    void operator()(archive* file) const;
  };
  void check(long code) const;
  void require_end();
  void require_all_read() const;

  std::filesystem::path path_;
  ArchiveKind kind_;
  std::unique_ptr<archive, Close> file_;
  std::string name_, first_link_;
  std::uint64_t size_ = 0, position_ = 0;
  std::int64_t links_ = 0;
  bool is_sparse_ = false;
};

// Equal members give equal bytes: the archive tells neither a time nor an owner.
class ZipWriter {
 public:
  ZipWriter();

  // Adds a file, not compressed, whose content is these parts one after another. The name is of ASCII.
  void add(const std::string& name, std::initializer_list<std::string_view> content);
  // Returns the archive. Nothing may be added afterwards.
  std::string finish();

 private:
  struct Close {
    void operator()(archive* file) const;
  };
  void check(long code) const;

  std::unique_ptr<std::string> bytes_; // its address stays: libarchive appends to it
  std::unique_ptr<archive, Close> file_;
};

} // namespace dt::data
