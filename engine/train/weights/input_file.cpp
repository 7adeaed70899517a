#include "engine/train/weights/input_file.hpp"

#include "core/error.hpp"
#include "core/files/file_at.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(const fs::path& path, const std::string& why)
{
  throw Error(ErrorKind::usage, fmt::format("read {}: {}", path.string(), why));
}

bool is_plain(unsigned char byte) { return byte > ' ' && byte < 0x7f; }

bool is_plain_part(std::string_view part)
{
  return !part.empty() && part != "." && part != ".." &&
         std::all_of(part.begin(), part.end(), [](char c) { return is_plain(static_cast<unsigned char>(c)); });
}

} // namespace

// O_NONBLOCK: opening a pipe without a writer must not block; the pipe is refused below.
InputFile::InputFile(const fs::path& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
{
  if (descriptor_ < 0) throw system_error("open " + path.string(), errno);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  const int error = errno;
  if (!known || !S_ISREG(status.st_mode)) ::close(descriptor_);
  if (!known) throw system_error("read " + path.string(), error);
  if (!S_ISREG(status.st_mode)) refuse("it is a folder, a pipe or a device; a regular file is expected.");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::refuse(const std::string& why) const { refuse_file(path_, why); }

void InputFile::require(std::uint64_t offset, std::uint64_t count) const
{
  if (offset > size_ || count > size_ - offset)
    refuse(fmt::format("{} bytes are expected from byte {} on, but the file has only {} bytes.", count, offset, size_));
}

void InputFile::read(std::uint64_t offset, std::span<char> bytes) const
{
  require(offset, bytes.size());
  if (read_at(descriptor_, bytes.data(), bytes.size(), offset, path_) < bytes.size())
    refuse("it became shorter while it was read.");
}

std::string InputFile::bytes_at(std::uint64_t offset, std::uint64_t count) const
{
  require(offset, count);
  std::string bytes(count, '\0');
  read(offset, bytes);
  return bytes;
}

std::size_t checked_elements(const InputFile& file, const std::string& tensor, std::span<const std::int64_t> dims,
                             std::uint64_t bytes, std::size_t number_bytes)
{
  std::uint64_t count = 1, needed = number_bytes;
  const auto refuse = [&] {
    file.refuse(fmt::format("tensor {}: its dimensions need more bytes than it has ({}).", tensor, bytes));
  };
  for (const auto dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count)) refuse();
    if (__builtin_mul_overflow(count, number_bytes, &needed)) refuse();
  }
  if (needed > bytes) refuse();
  return count;
}

void require_plain_name(const InputFile& file, const std::string& name)
{
  constexpr std::size_t longest = 1024;
  bool plain = name.size() <= longest;
  std::string_view rest = name;
  for (bool more = true; more && plain;) {
    const auto slash = rest.find('/');
    plain = is_plain_part(rest.substr(0, slash));
    more = slash != rest.npos;
    if (more) rest.remove_prefix(slash + 1);
  }
  if (!plain)
    file.refuse(fmt::format("\"{}\" is no name of a tensor: parts of printable ASCII with one slash between them are expected.",
                            printable(name.substr(0, 64))));
}

void require_finite(const fs::path& path, const std::string& tensor, std::span<const float> values)
{
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  refuse_file(path, fmt::format("tensor {}: value {} of {} is {}; only finite weights are taken.", tensor, bad - values.begin(),
                                values.size(), std::isnan(*bad) ? "NaN" : "infinite"));
}

} // namespace dt::train
