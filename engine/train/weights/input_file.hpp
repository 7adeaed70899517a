// InputFile: an untrusted file, read at offsets with every size checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace dt::train {

// A regular file. System failures are environment errors; wrong content is a usage error. Both name the file.
class InputFile {
 public:
  // Throws an environment error if the file cannot be opened; a usage error if it is a folder, a pipe or a device.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Throws the usage error "read <path>: <why>".
  [[noreturn]] void refuse(const std::string& why) const;
  // Fills `bytes` with the content from `offset`. Refuses the file if it is too short.
  void read(std::uint64_t offset, std::span<char> bytes) const;
  // Returns `count` bytes from `offset`. Checks the file's size before it allocates memory.
  std::string bytes_at(std::uint64_t offset, std::uint64_t count) const;

 private:
  void require(std::uint64_t offset, std::uint64_t count) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

// Number of elements of a tensor with these dimensions. Refuses the file if they need more than the tensor's `bytes` at
// `number_bytes` each.
std::size_t checked_elements(const InputFile& file, const std::string& tensor, std::span<const std::int64_t> dims,
                             std::uint64_t bytes, std::size_t number_bytes);

// Refuses a tensor name that is empty, longer than 1,024 bytes, contains anything but printable ASCII, or could be read as a path
// out of a folder ("/x", "a//b", "../x").
void require_plain_name(const InputFile& file, const std::string& name);

// Throws a usage error that names the first value that is NaN or infinite.
void require_finite(const std::filesystem::path& path, const std::string& tensor, std::span<const float> values);

} // namespace dt::train
