// InputFile: a file of somebody else, read at offsets; nothing in it is believed before it was checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace dt::engine {

// A regular file. Failures of the system are environment errors, content that is not as it must be is a usage error; both name
// the file.
class InputFile {
public:
  // An environment error when it cannot be opened, a usage error when it is a folder, a pipe or a device.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Throws "read <path>: <why>".
  [[noreturn]] void refuse(const std::string& why) const;
  // Fills `bytes` from `offset` on; refuses the file when it ends before.
  void read(std::uint64_t offset, std::span<char> bytes) const;
  // As many bytes from `offset` on. Whether the file has them is checked before any memory is taken.
  std::string bytes_at(std::uint64_t offset, std::uint64_t count) const;

private:
  void require(std::uint64_t offset, std::uint64_t count) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

// The number of elements of a tensor of these dimensions; refuses the file when they take more than `most_bytes` as 32-bit floats.
std::size_t checked_elements(const InputFile& file, const std::string& tensor, std::span<const std::int64_t> dims,
                             std::uint64_t most_bytes);

// Refuses the name of a tensor that is empty, longer than 1,024 bytes, holds bytes other than printable ASCII, or could be read as
// a path out of a folder ("/x", "a//b", "../x").
void require_plain_name(const InputFile& file, const std::string& name);

// A usage error that names the first value that is NaN or infinite.
void require_finite(const std::filesystem::path& path, const std::string& tensor, std::span<const float> values);

} // namespace dt::engine
