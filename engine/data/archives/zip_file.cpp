#include "engine/data/archives/zip_file.hpp"

#include "core/file_at.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::data {
namespace {

static_assert(std::endian::native == std::endian::little, "zip's fields are read as they lie in memory");

constexpr std::uint32_t member_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50, end64_mark = 0x06064b50,
                        locator64_mark = 0x07064b50;
constexpr std::size_t member_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56, locator64_bytes = 20;
constexpr std::uint16_t encrypted = 1, stored = 0, deflated = 8, zip64_extra = 1;
constexpr std::uint32_t in_zip64 = std::numeric_limits<std::uint32_t>::max(); // the value is in the zip64 record

template<class Number> Number get(std::string_view bytes, std::size_t offset)
{
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// The content of the extra field of this kind.
std::string_view extra_field(std::string_view extra, std::uint16_t kind)
{
  while (extra.size() >= 4) {
    const auto found = get<std::uint16_t>(extra, 0);
    const std::size_t bytes = get<std::uint16_t>(extra, 2);
    if (extra.size() < 4 + bytes) break;
    if (found == kind) return extra.substr(4, bytes);
    extra.remove_prefix(4 + bytes);
  }
  return {};
}

} // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : path_(path), file_(open_if_exists(path))
{
  struct stat facts {};
  if (!file_.is_open()) throw system_error("open " + path.string(), ENOENT);
  if (::fstat(file_.get(), &facts) != 0) throw system_error("stat " + path.string(), errno);
  file_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  read_directory(find_directory());
}

Error ZipFile::damaged(std::string_view cause) const
{
  return {ErrorKind::usage, fmt::format("{}: {}", printable(path_.string()), cause)};
}

void ZipFile::read(std::uint64_t begin, std::string& bytes) const
{
  if (begin > file_bytes_ || bytes.size() > file_bytes_ - begin) throw damaged("the zip archive is cut short.");
  if (read_at(file_.get(), bytes.data(), bytes.size(), begin, path_) < bytes.size())
    throw damaged("the zip archive is cut short.");
}

ZipFile::Directory ZipFile::find_directory() const
{
  constexpr std::uint64_t longest_comment = 0xffff;
  std::string tail(std::min<std::uint64_t>(file_bytes_, end_bytes + longest_comment), '\0');
  read(file_bytes_ - tail.size(), tail);
  const auto at = tail.rfind("PK\x05\x06");
  if (at == tail.npos || tail.size() - at < end_bytes)
    throw damaged("this is not a zip archive, or it is cut short: the record at its end is missing.");
  Directory directory{get<std::uint32_t>(tail, at + 16), get<std::uint32_t>(tail, at + 12), get<std::uint16_t>(tail, at + 10)};
  if (at >= locator64_bytes && get<std::uint32_t>(tail, at - locator64_bytes) == locator64_mark) {
    std::string end64(end64_bytes, '\0');
    read(get<std::uint64_t>(tail, at - locator64_bytes + 8), end64);
    if (get<std::uint32_t>(end64, 0) != end64_mark) throw damaged("the zip archive is damaged: its zip64 record is missing.");
    directory = {get<std::uint64_t>(end64, 48), get<std::uint64_t>(end64, 40), get<std::uint64_t>(end64, 32)};
  }
  if (directory.begin > file_bytes_ || directory.bytes > file_bytes_ - directory.begin)
    throw damaged("the zip archive is damaged: its directory lies beyond its end.");
  return directory;
}

void ZipFile::read_directory(const Directory& directory)
{
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
  if (directory.bytes > most_bytes) throw damaged("the zip archive's directory is larger than 256 MiB.");
  std::string bytes(directory.bytes, '\0');
  read(directory.begin, bytes);
  for (std::string_view rest = bytes; !rest.empty();) {
    if (rest.size() < entry_bytes || get<std::uint32_t>(rest, 0) != entry_mark)
      throw damaged("the zip archive's directory is damaged.");
    const auto whole = entry_bytes + get<std::uint16_t>(rest, 28) + get<std::uint16_t>(rest, 30) + get<std::uint16_t>(rest, 32);
    if (rest.size() < whole) throw damaged("the zip archive's directory is damaged.");
    members_.push_back(read_entry(rest.substr(0, whole)));
    rest.remove_prefix(whole);
  }
  if (members_.size() != directory.members)
    throw damaged(
        fmt::format("the zip archive's directory has {} members; {} are expected.", members_.size(), directory.members));
}

ZipMember ZipFile::read_entry(std::string_view entry) const
{
  const std::size_t name_bytes = get<std::uint16_t>(entry, 28);
  ZipMember member{.name = std::string(entry.substr(entry_bytes, name_bytes)),
                   .crc = get<std::uint32_t>(entry, 16),
                   .packed_bytes = get<std::uint32_t>(entry, 20),
                   .bytes = get<std::uint32_t>(entry, 24),
                   .begin = get<std::uint32_t>(entry, 42)};
  // The zip64 field holds those of the three numbers that do not fit, in this order.
  auto large = extra_field(entry.substr(entry_bytes + name_bytes, get<std::uint16_t>(entry, 30)), zip64_extra);
  for (auto* number : {&member.bytes, &member.packed_bytes, &member.begin}) {
    if (*number != in_zip64) continue;
    if (large.size() < sizeof(std::uint64_t)) throw damaged("the zip archive's directory is damaged: a zip64 field is missing.");
    *number = get<std::uint64_t>(large, 0);
    large.remove_prefix(sizeof(std::uint64_t));
  }
  const auto flags = get<std::uint16_t>(entry, 8), method = get<std::uint16_t>(entry, 10);
  if ((flags & encrypted) != 0 || (method != stored && method != deflated))
    throw damaged(fmt::format("member {} is encrypted or compressed with another method than deflate.", printable(member.name)));
  member.is_deflated = method == deflated;
  if (!member.is_deflated && member.bytes != member.packed_bytes)
    throw damaged(fmt::format("member {} has two different sizes.", printable(member.name)));
  find_content(member);
  return member;
}

// Sets the beginning of the content from the beginning of the member's own header.
void ZipFile::find_content(ZipMember& member) const
{
  std::string header(member_bytes, '\0');
  read(member.begin, header);
  std::string name(get<std::uint16_t>(header, 26), '\0');
  if (get<std::uint32_t>(header, 0) == member_mark) read(member.begin + member_bytes, name);
  if (get<std::uint32_t>(header, 0) != member_mark || name != member.name)
    throw damaged(fmt::format("member {} is not where the zip archive's directory says.", printable(member.name)));
  member.begin += member_bytes + name.size() + get<std::uint16_t>(header, 28);
  if (member.begin > file_bytes_ || member.packed_bytes > file_bytes_ - member.begin)
    throw damaged(fmt::format("the zip archive is cut short inside of member {}.", printable(member.name)));
}

} // namespace dt::data
