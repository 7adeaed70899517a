#include "recipes/reading/source.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::recipes {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Opens without waiting for a writer of a FIFO. A pipe that the shell made for a recipe, as in `dtctl sweep <(make-recipe)`, has
// a name in /dev and a writer; other FIFOs are refused (errno is then EINVAL), because nobody may ever write to them.
std::unique_ptr<std::FILE, CloseFile> open_source(const fs::path& path)
{
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  const bool is_fifo = ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
  if (const auto name = path.string(); is_fifo && !name.starts_with("/dev/") && !name.starts_with("/proc/")) {
    ::close(descriptor);
    errno = EINVAL;
    return nullptr;
  }
  ::fcntl(descriptor, F_SETFL, 0); // from here on a read waits
  return std::unique_ptr<std::FILE, CloseFile>(::fdopen(descriptor, "rb"));
}

// Reads slightly more than the allowed size, so that an endless device is refused too. On failure sets errno and returns nothing.
std::optional<std::string> read_limited(std::FILE* file)
{
  std::string bytes;
  std::array<char, 16 * 1024> block{};
  while (bytes.size() <= largest_source_bytes) {
    const auto got = std::fread(block.data(), 1, block.size(), file);
    if (got == 0) break;
    bytes.append(block.data(), got);
  }
  if (std::ferror(file) != 0) return std::nullopt;
  return bytes;
}

std::optional<std::string> read_limited(const fs::path& path)
{
  if (path == standard_input) {
    static const auto text = read_limited(stdin);
    return text;
  }
  const auto file = open_source(path);
  return file ? read_limited(file.get()) : std::nullopt;
}

std::string why_unreadable(const fs::path& path, int error_number)
{
  std::error_code error;
  if (fs::is_directory(path, error)) return "is a folder, not a file";
  if (fs::is_fifo(path, error)) return "is a FIFO, not a file";
  if (error_number == ENOENT) return "does not exist" + near_file(path);
  return std::string("cannot be read: ") + std::strerror(error_number);
}

// Place of a byte. Lines and columns are counted from 1.
Mark mark_of_byte(const Source& source, std::size_t offset)
{
  const std::string_view before(source.text.data(), offset);
  const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {source.name, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
          1 + static_cast<int>(display_width(before.substr(line_start)))};
}

// Length of the character at `offset`; 0 if the bytes are not a character.
std::size_t character_length(std::string_view text, std::size_t offset)
{
  for (std::size_t length = 1; length <= 4; ++length)
    if (is_valid_utf8(text.substr(offset, length))) return length;
  return 0;
}

// Position of the first byte that is not part of a UTF-8 character. There must be one.
std::size_t first_bad_byte(std::string_view text)
{
  std::size_t offset = 0;
  while (const auto length = character_length(text, offset)) offset += length;
  return offset;
}

std::string hex(unsigned char byte)
{
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

bool is_utf16(std::string_view text) { return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"); }

// Whether the text may be parsed. Adds a diagnostic if not.
bool check_text(const Source& source, Diagnostics& diagnostics)
{
  if (source.text.size() > largest_source_bytes) {
    diagnostics.add(source.whole(),
                    "is larger than " + std::to_string(largest_source_bytes / 1024 / 1024) + " MiB; this is not a recipe");
    return false;
  }
  if (is_utf16(source.text)) {
    diagnostics.add(source.whole(), "is UTF-16; save it as UTF-8");
    return false;
  }
  if (!is_valid_utf8(source.text)) {
    const auto offset = first_bad_byte(source.text);
    diagnostics.add(mark_of_byte(source, offset),
                    "byte " + hex(static_cast<unsigned char>(source.text[offset])) + " is not UTF-8; save the file as UTF-8");
    return false;
  }
  if (const auto nul = source.text.find('\0'); nul != std::string::npos) {
    diagnostics.add(mark_of_byte(source, nul), "a NUL byte; this is not a text file");
    return false;
  }
  return true;
}

} // namespace

std::string near_file(const fs::path& path)
{
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < 1000; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  const auto near = nearest(path.filename().string(), names);
  return near ? "; did you mean `" + (path.parent_path() / *near).string() + "`?" : "";
}

std::optional<Source> read_source(const fs::path& path, Diagnostics& diagnostics)
{
  Source source{std::make_shared<const std::string>(path == standard_input ? standard_input_name : path.string()), {}};
  auto bytes = read_limited(path);
  if (!bytes) {
    diagnostics.add(source.whole(), why_unreadable(path, errno));
    return std::nullopt;
  }
  source.text = std::move(*bytes);
  if (!check_text(source, diagnostics)) return std::nullopt;
  if (source.text.starts_with("\xEF\xBB\xBF")) source.text.erase(0, 3);
  return source;
}

} // namespace dt::recipes
