#include "engine/data/sources/file_bytes.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

namespace dt::data {
namespace {

// zlib's state for unpacking consecutive gzip members.
class Inflater {
 public:
  explicit Inflater(std::string_view packed)
  {
    constexpr int gzip_only = 15 + 16; // largest window; accept only gzip's header and checksum
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw Error(ErrorKind::environment, "zlib could not start: out of memory.");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())); // zlib never writes to its input
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Unpacks one block, appends it to `unpacked`, and returns zlib's code.
  int step(std::string& unpacked)
  {
    constexpr std::size_t block = 1 << 18;
    const std::size_t size = unpacked.size();
    unpacked.resize(size + block);
    stream_.next_out = reinterpret_cast<Bytef*>(unpacked.data() + size);
    stream_.avail_out = block;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    unpacked.resize(size + block - stream_.avail_out);
    return code;
  }
  bool input_left() const { return stream_.avail_in > 0; }
  std::string_view rest() const { return {reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in}; }
  void next_member() { inflateReset(&stream_); }

 private:
  z_stream stream_{};
};

bool looks_like_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

std::string gunzip(const std::filesystem::path& path, std::string_view packed, std::size_t max_bytes)
{
  if (!looks_like_gzip(packed))
    throw file_error(path,
                     "its name ends in .gz but it is not gzip. If something unpacked it already, take the .gz off its name.");
  std::string unpacked;
  Inflater inflater(packed);
  for (;;) {
    const int code = inflater.step(unpacked);
    if (unpacked.size() > max_bytes)
      throw file_error(path, fmt::format("unpacks to more than {} bytes, which no file of this kind does.", max_bytes));
    if (code == Z_STREAM_END) {
      if (!inflater.input_left()) return unpacked;
      if (!looks_like_gzip(inflater.rest()))
        throw file_error(path, fmt::format("{} bytes after the end of its gzip data. Fetch it again.", inflater.rest().size()));
      inflater.next_member();
    } else if (code == Z_BUF_ERROR) { // the input has ended
      throw file_error(path, fmt::format("its gzip data is cut short after {} bytes. Fetch it again.", packed.size()));
    } else if (code != Z_OK) {
      throw file_error(path, fmt::format("its gzip data is corrupt after {} unpacked bytes. Fetch it again.", unpacked.size()));
    }
  }
}

// ", which holds a.png, b.png and 98 more"; empty for an empty or unreadable folder.
std::string what_is_in(const std::filesystem::path& folder)
{
  constexpr std::size_t listed = 3;
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto name = it->path().filename().string(); !name.starts_with('.')) names.push_back(printable(name));
  if (names.empty()) return "";
  std::sort(names.begin(), names.end());
  const auto more = names.size() - std::min(listed, names.size());
  names.resize(names.size() - more);
  return fmt::format(", which holds {}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

} // namespace

Error file_error(const std::filesystem::path& path, std::string_view cause)
{
  return {ErrorKind::recipe, fmt::format("data file {}: {}", path.string(), cause)};
}

std::string how_to_get(std::string_view data_set)
{
  if (data_set == "digits" || data_set == "shapes") return fmt::format("Make it with: dtctl data make {}", data_set);
  return "Put its files there, or name their folder in data.path. Images of your own are packed first: dtctl data pack FOLDER -o "
         "NAME; then data.name is packed.";
}

std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder, std::span<const std::string> names)
{
  const auto there = [&](const std::string& name) {
    return is_there(folder / name) && std::filesystem::is_regular_file(folder / name);
  };
  const auto found = std::find_if(names.begin(), names.end(), there);
  if (found == names.end()) return std::nullopt;
  return folder / *found;
}

std::filesystem::path require_file(std::string_view data_set, const std::filesystem::path& folder,
                                   std::span<const std::string> names)
{
  if (auto found = find_file(folder, names)) return *found;
  throw Error(ErrorKind::recipe, fmt::format("data set {}: no file {} in {}{}. {}", data_set, fmt::join(names, " or "),
                                             folder.string(), what_is_in(folder), how_to_get(data_set)));
}

std::string read_unpacked(const std::filesystem::path& path, std::size_t max_bytes)
{
  auto bytes = read_file(path);
  if (path.extension() != ".gz") return bytes;
  if (bytes.size() > max_bytes)
    throw file_error(path, fmt::format("{} bytes are more than any file of this kind has.", bytes.size()));
  return gunzip(path, bytes, max_bytes);
}

} // namespace dt::data
