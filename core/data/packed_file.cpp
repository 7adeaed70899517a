#include "core/data/packed_file.hpp"

#include "core/data/packed_description.hpp"
#include "core/error.hpp"
#include "core/files/file_at.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the file's numbers are read where they lie");

constexpr std::size_t id_bytes = 16;

struct Header {
  char magic[8];
  std::uint64_t records, index_begin, names_begin, description_begin, file_bytes;
  unsigned char id[id_bytes];
};
static_assert(sizeof(Header) == 64);

Error broken(const fs::path& path, std::string_view cause)
{
  return Error(ErrorKind::recipe,
               fmt::format("packed set {}: {}. Pack it again, or put a whole copy in its place.", path.string(), cause));
}

SystemError failed(std::string_view what, const fs::path& path)
{
  const int number = errno;
  return system_error(fmt::format("{} {}", what, path.string()), number);
}

Descriptor open_set(const fs::path& path)
{
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open() && errno == ENOENT)
    throw Error(ErrorKind::recipe,
                fmt::format("there is no packed set {}. `dtctl data pack` makes one; `dtctl data list` shows those "
                            "that are here.",
                            path.string()));
  if (!file.is_open()) throw failed("open", path);
  struct stat facts;
  if (::fstat(file.get(), &facts) != 0) throw failed("stat", path);
  if (S_ISDIR(facts.st_mode))
    throw Error(ErrorKind::recipe, fmt::format("{} is a folder, not a packed set. Pack it first: dtctl data pack {} -o NAME",
                                               path.string(), shell_quote(path.string())));
  if (!S_ISREG(facts.st_mode)) throw broken(path, "this is no regular file");
  return file;
}

std::uint64_t size_of(const Descriptor& file, const fs::path& path)
{
  struct stat facts;
  if (::fstat(file.get(), &facts) != 0) throw failed("stat", path);
  return static_cast<std::uint64_t>(facts.st_size);
}

void read_whole(int descriptor, char* bytes, std::uint64_t count, std::uint64_t begin, const fs::path& path)
{
  if (read_at(descriptor, bytes, count, begin, path) < count)
    throw broken(path, "the file has become shorter since it was opened");
}

// The bytes [begin, end) of the file.
std::string read_part(const Descriptor& file, std::uint64_t begin, std::uint64_t end, const fs::path& path)
{
  std::string bytes(end - begin, '\0');
  read_whole(file.get(), bytes.data(), bytes.size(), begin, path);
  return bytes;
}

Header read_header(const Descriptor& file, std::uint64_t file_bytes, const fs::path& path)
{
  Header header{};
  if (file_bytes < sizeof header) throw broken(path, "this is no packed set: it is too short");
  read_whole(file.get(), reinterpret_cast<char*>(&header), sizeof header, 0, path);
  if (std::string_view(header.magic, sizeof header.magic) != packed_magic)
    throw broken(path, "this is no packed set: it does not begin with \"dtpack1\"");
  if (header.file_bytes != file_bytes)
    throw broken(path, fmt::format("it has {} bytes, but should have {}", file_bytes, header.file_bytes));
  const bool is_ordered = header.index_begin >= packed_records_begin && header.index_begin % alignof(PackedEntry) == 0 &&
                          header.index_begin <= header.names_begin && header.names_begin <= header.description_begin &&
                          header.description_begin <= file_bytes;
  if (!is_ordered || header.records == 0 || (header.names_begin - header.index_begin) % sizeof(PackedEntry) != 0 ||
      (header.names_begin - header.index_begin) / sizeof(PackedEntry) != header.records)
    throw broken(path, "its header is damaged");
  return header;
}

std::string to_hex(const unsigned char* bytes)
{
  std::string text;
  for (std::size_t i = 0; i < id_bytes; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

void from_hex(std::string_view text, unsigned char* bytes)
{
  for (std::size_t i = 0; i < id_bytes; ++i) std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
}

std::string_view bytes_of(std::span<const PackedEntry> entries)
{
  return {reinterpret_cast<const char*>(entries.data()), entries.size_bytes()};
}

std::string id_of(std::string_view index, std::string_view names, std::string_view description)
{
  Hasher hasher;
  hasher.update(index);
  hasher.update(names);
  hasher.update(description);
  return hasher.hex();
}

} // namespace

PackedFile::PackedFile(const fs::path& path) : path_(path), file_(open_set(path)), file_bytes_(size_of(file_, path))
{
  const auto header = read_header(file_, file_bytes_, path);
  records_ = header.records;
  index_begin_ = header.index_begin;
  names_begin_ = header.names_begin;
  description_begin_ = header.description_begin;
  id_ = to_hex(header.id);
  const auto description = read_part(file_, description_begin_, file_bytes_, path);
  std::string cause;
  try {
    description_ = parse_packed_description(description);
    if (!describes_records(description_, records_)) cause = "its description does not fit its records";
  } catch (const std::exception& error) {
    cause = fmt::format("its description is damaged ({})", error.what());
  }
  if (!cause.empty()) throw broken(path, cause);
}

std::span<const PackedEntry> PackedFile::entries() const
{
  std::call_once(has_entries_, [this] {
    std::vector<PackedEntry> entries(records_);
    read_whole(file_.get(), reinterpret_cast<char*>(entries.data()), names_begin_ - index_begin_, index_begin_, path_);
    entries_ = std::move(entries);
  });
  return entries_;
}

std::string PackedFile::name(std::int64_t record) const
{
  constexpr std::uint64_t usual = 256; // longer names take another read
  std::string name;
  for (auto begin = std::min(names_begin_ + entry(record).name, description_begin_); begin < description_begin_;) {
    const auto part = read_part(file_, begin, std::min(begin + usual, description_begin_), path_);
    const auto end = part.find('\0');
    name += part.substr(0, end);
    if (end != part.npos) break;
    begin += part.size();
  }
  return name;
}

std::vector<std::string> PackedFile::names() const
{
  const auto joined = read_part(file_, names_begin_, description_begin_, path_);
  std::vector<std::string> names;
  names.reserve(records_);
  for (const auto& entry : entries()) {
    const auto begin = std::min<std::uint64_t>(entry.name, joined.size());
    names.push_back(joined.substr(begin, std::min(joined.find('\0', begin), joined.size()) - begin));
  }
  return names;
}

void PackedFile::require_intact_index() const
{
  const auto names = read_part(file_, names_begin_, description_begin_, path_),
             description = read_part(file_, description_begin_, file_bytes_, path_);
  const auto entries = this->entries();
  if (id_of(bytes_of(entries), names, description) != id_) throw broken(path_, "its index has changed since it was packed");
  std::uint64_t end = packed_records_begin; // of the record before: records do not overlap
  const bool is_pixels = description_.encoding == PackedEncoding::pixels;
  const auto pixel_bytes = static_cast<std::uint64_t>(description_.height * description_.width * description_.channels);
  const auto is_possible = [&](const PackedEntry& entry) {
    const auto begin = std::exchange(end, entry.begin + entry.bytes);
    return entry.begin >= begin && (!is_pixels || entry.bytes == pixel_bytes) && entry.begin <= index_begin_ &&
           entry.bytes <= index_begin_ - entry.begin && entry.label < description_.classes.size() && entry.name < names.size();
  };
  const auto wrong = std::ranges::find_if_not(entries, is_possible);
  if (wrong != entries.end())
    throw broken(path_, fmt::format("entry {} of its index lies outside the file, overlaps another one or has no class",
                                    wrong - entries.begin()));
}

void PackedFile::read(std::int64_t record, std::string& bytes) const
{
  const auto& where = entry(record);
  bytes.resize(where.bytes);
  read_whole(file_.get(), bytes.data(), where.bytes, where.begin, path_);
}

bool PackedFile::is_intact(std::int64_t record, std::string_view bytes) const
{
  const auto& known = entry(record);
  return bytes.size() == known.bytes && hash64(bytes) == known.hash;
}

std::string finish_packed_file(int descriptor, const fs::path& path, std::uint64_t records_end, std::span<PackedEntry> entries,
                               std::span<const std::string> names, const PackedDescription& description)
{
  constexpr std::uint64_t alignment = 8;
  std::string joined;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].name = joined.size();
    (joined += names[i]) += '\0';
  }
  const auto text = packed_description_text(description);
  Header header{};
  std::ranges::copy(packed_magic, header.magic);
  header.records = entries.size();
  header.index_begin = (std::max(records_end, packed_records_begin) + alignment - 1) / alignment * alignment;
  header.names_begin = header.index_begin + entries.size_bytes();
  header.description_begin = header.names_begin + joined.size();
  header.file_bytes = header.description_begin + text.size();
  const auto id = id_of(bytes_of(entries), joined, text);
  from_hex(id, header.id);
  write_at(descriptor, bytes_of(entries), header.index_begin, path);
  write_at(descriptor, joined, header.names_begin, path);
  write_at(descriptor, text, header.description_begin, path);
  if (::ftruncate(descriptor, static_cast<off_t>(header.file_bytes)) != 0) throw failed("truncate", path);
  if (::fsync(descriptor) != 0) throw failed("sync", path);
  write_at(descriptor, {reinterpret_cast<const char*>(&header), sizeof header}, 0, path);
  if (::fsync(descriptor) != 0) throw failed("sync", path);
  return id;
}

std::string packed_id(const fs::path& path)
{
  const PackedFile file(path);
  file.require_intact_index();
  return file.id();
}

} // namespace dt
