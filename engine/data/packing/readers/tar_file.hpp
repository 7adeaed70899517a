// TarFile: reads the members of a tar file one after another, with or without gzip (libarchive).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

struct archive;
struct archive_entry;

namespace dt::data {

class TarFile {
 public:
  // Throws an environment error if the file cannot be opened; a usage error if it is not a tar file.
  explicit TarFile(const std::filesystem::path& path);

  // Goes on to the next regular file. Returns false after the last one. Throws a usage error if the file is damaged.
  bool next();
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  // Whether the member was stored with holes (tar --sparse): it may unpack to any size, however small the tar file is.
  bool is_sparse() const { return is_sparse_; }
  // Members that next() has left out because they are links to other files, and the name of the first.
  std::int64_t links() const { return links_; }
  const std::string& first_link() const { return first_link_; }
  // Reads the content of the member. Throws like next().
  void read(std::string& bytes);

 private:
  struct Close {
    void operator()(archive* file) const;
  };
  void check(long code) const;

  std::filesystem::path path_;
  std::unique_ptr<archive, Close> file_;
  std::string name_, first_link_;
  std::uint64_t size_ = 0;
  std::int64_t links_ = 0;
  bool is_sparse_ = false;
};

} // namespace dt::data
