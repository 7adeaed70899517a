#include "engine/data/archives/archive_file.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace dt::data {
namespace {

// Content is read, and memory for it is allocated, in blocks of this size.
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;

const char* name_of(ArchiveKind kind) { return kind == ArchiveKind::tar ? "tar file" : "zip archive"; }

Error archive_error(const std::filesystem::path& path, std::string_view cause)
{
  return {ErrorKind::usage, fmt::format("{}: {}", printable(path.string()), cause)};
}

// Called by libarchive: appends to the string.
la_ssize_t append(archive* /*file*/, void* bytes, const void* block, std::size_t size)
{
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(block), size);
  return static_cast<la_ssize_t>(size);
}

} // namespace

void ArchiveFile::Close::operator()(archive* file) const { archive_read_free(file); }

ArchiveFile::ArchiveFile(const std::filesystem::path& path, ArchiveKind kind)
    : path_(path), kind_(kind), file_(archive_read_new())
{
  if (!file_) throw Error(ErrorKind::environment, "libarchive could not start: out of memory.");
  if (kind == ArchiveKind::tar) {
    archive_read_support_filter_gzip(file_.get());
    archive_read_support_format_tar(file_.get());
    check(archive_read_set_format_option(file_.get(), "tar", "read_concatenated_archives", "1"));
  } else {
    archive_read_support_format_zip_seekable(file_.get());
  }
  constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
  check(archive_read_open_filename(file_.get(), path.c_str(), buffer_bytes));
}

// libarchive reports a wrong checksum of a zip member as a warning. In tar files it warns about attributes that nobody needs;
// behind a header with a wrong checksum it would go on (ARCHIVE_RETRY), and leave out the member.
void ArchiveFile::check(long code) const
{
  if (code >= (kind_ == ArchiveKind::tar ? ARCHIVE_WARN : ARCHIVE_OK) && code != ARCHIVE_RETRY) return;
  const char* cause = archive_error_string(file_.get());
  throw archive_error(path_, fmt::format("the {} cannot be read{}: {}. Fetch or make it again.", name_of(kind_),
                                         name_.empty() ? "" : " at " + printable(name_),
                                         cause == nullptr ? "it is damaged" : printable(trim(cause))));
}

Error ArchiveFile::refusal(std::string_view cause) const
{
  return archive_error(path_, fmt::format("member {} {}", printable(name_), cause));
}

bool ArchiveFile::next()
{
  name_.clear(); // of no use in an error about the member that follows
  for (;;) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(file_.get(), &entry);
    if (code == ARCHIVE_EOF) return require_all_read(), false;
    check(code);
    const char* name = archive_entry_pathname(entry);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) {
      if (links_++ == 0) first_link_ = name == nullptr ? "" : name;
      continue;
    }
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    if (name == nullptr) throw archive_error(path_, "the name of a member cannot be read.");
    name_ = name;
    if (name_.starts_with("./")) name_.erase(0, 2);
    is_sparse_ = archive_entry_sparse_count(entry) > 0;
    size_ = static_cast<std::uint64_t>(std::max<std::int64_t>(0, archive_entry_size(entry)));
    position_ = 0;
    return true;
  }
}

// libarchive stops at the end of the compressed stream. Zeros may follow: tapes and copies in blocks add them.
void ArchiveFile::require_all_read() const
{
  if (kind_ != ArchiveKind::tar) return;
  std::ifstream file(path_, std::ios::binary);
  const auto read = archive_filter_bytes(file_.get(), -1);
  file.seekg(read);
  std::uint64_t more = 0, last = 0;
  for (std::array<char, 65536> block{}; file.read(block.data(), block.size()), file.gcount() > 0;
       more += static_cast<std::uint64_t>(file.gcount())) {
    const auto end = std::string_view(block.data(), static_cast<std::size_t>(file.gcount())).find_last_not_of('\0');
    if (end != std::string_view::npos) last = more + end + 1;
  }
  if (last > 0) throw archive_error(path_, fmt::format("{} bytes follow the end of the tar file. Fetch or make it again.", last));
}

void ArchiveFile::read(std::uint64_t count, std::string& bytes)
{
  bytes.clear();
  if (position_ > size_ || count > size_ - position_) throw refusal(fmt::format("ends before byte {}.", position_ + count));
  while (bytes.size() < count) {
    const auto before = bytes.size(), wanted = std::min(block_bytes, count - before);
    bytes.resize(before + wanted);
    const auto got = archive_read_data(file_.get(), bytes.data() + before, wanted);
    check(static_cast<long>(got));
    if (got <= 0) throw refusal(fmt::format("ends before byte {}.", position_ + count));
    bytes.resize(before + static_cast<std::size_t>(got));
  }
  position_ += count;
  if (position_ == size_) require_end();
}

// libarchive compares size and checksum when the end of the member is read.
void ArchiveFile::require_end()
{
  char more = 0;
  const auto got = archive_read_data(file_.get(), &more, 1);
  check(static_cast<long>(got));
  if (got > 0) throw refusal(fmt::format("has more than the {} bytes that the {} states.", size_, name_of(kind_)));
}

void ArchiveFile::skip(std::uint64_t count)
{
  for (std::string block; count > 0; count -= block.size()) read(std::min(block_bytes, count), block);
}

void ZipWriter::Close::operator()(archive* file) const { archive_write_free(file); }

ZipWriter::ZipWriter() : bytes_(std::make_unique<std::string>()), file_(archive_write_new())
{
  if (!file_) throw Error(ErrorKind::environment, "libarchive could not start: out of memory.");
  check(archive_write_set_format_zip(file_.get()));
  check(archive_write_set_options(file_.get(), "zip:compression=store"));
  check(archive_write_set_bytes_per_block(file_.get(), 0)); // no padding
  check(archive_write_open(file_.get(), bytes_.get(), nullptr, append, nullptr));
}

void ZipWriter::check(long code) const
{
  if (code >= ARCHIVE_OK) return;
  const char* cause = archive_error_string(file_.get());
  throw Error(ErrorKind::environment,
              fmt::format("The zip archive cannot be written: {}.", cause == nullptr ? "out of memory" : printable(trim(cause))));
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> content)
{
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new2(file_.get()), archive_entry_free);
  if (!entry) throw Error(ErrorKind::environment, "The zip archive cannot be written: out of memory.");
  std::size_t size = 0;
  for (const auto part : content) size += part.size();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  check(archive_write_header(file_.get(), entry.get()));
  for (const auto part : content) check(archive_write_data(file_.get(), part.data(), part.size()));
  check(archive_write_finish_entry(file_.get()));
}

std::string ZipWriter::finish()
{
  check(archive_write_close(file_.get()));
  return std::move(*bytes_);
}

} // namespace dt::data
