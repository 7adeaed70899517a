#include "engine/data/packing/readers/tar_file.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/data/packing/source_files.hpp"

#include <algorithm>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace dt::data {

void TarFile::Close::operator()(archive* file) const { archive_read_free(file); }

TarFile::TarFile(const std::filesystem::path& path) : path_(path), file_(archive_read_new())
{
  if (!file_) throw Error(ErrorKind::environment, "libarchive could not start: out of memory.");
  archive_read_support_filter_gzip(file_.get());
  archive_read_support_format_tar(file_.get());
  constexpr std::size_t block = std::size_t{1} << 18;
  check(archive_read_open_filename(file_.get(), path.c_str(), block));
}

void TarFile::check(long code) const
{
  if (code >= ARCHIVE_WARN) return;
  const char* cause = archive_error_string(file_.get());
  throw source_error(path_, fmt::format("the tar file cannot be read: {}. Fetch or make it again.",
                                        cause == nullptr ? "it is damaged" : printable(cause)));
}

bool TarFile::next()
{
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(file_.get(), &entry);
    if (code == ARCHIVE_EOF) return false;
    check(code);
    const char* name = archive_entry_pathname(entry);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) {
      if (links_++ == 0) first_link_ = name == nullptr ? "" : name;
      continue;
    }
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    if (name == nullptr) throw source_error(path_, "the name of a member cannot be read.");
    name_ = name;
    if (name_.starts_with("./")) name_.erase(0, 2);
    is_sparse_ = archive_entry_sparse_count(entry) > 0;
    size_ = static_cast<std::uint64_t>(std::max<std::int64_t>(0, archive_entry_size(entry)));
    return true;
  }
}

void TarFile::read(std::string& bytes)
{
  // The size comes from the file and may be wrong, so memory is allocated as the content arrives.
  constexpr std::size_t block = std::size_t{1} << 20;
  bytes.clear();
  while (bytes.size() < size_) {
    const auto before = bytes.size(), wanted = std::min<std::size_t>(block, size_ - before);
    bytes.resize(before + wanted);
    const auto got = archive_read_data(file_.get(), bytes.data() + before, wanted);
    check(static_cast<long>(got));
    bytes.resize(before + static_cast<std::size_t>(std::max<la_ssize_t>(0, got)));
    if (got <= 0) break;
  }
  if (bytes.size() != size_) throw source_error(path_, fmt::format("the tar file ends inside of {}.", printable(name_)));
}

} // namespace dt::data
