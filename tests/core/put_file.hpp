// Writing what a test reads back, many times over: unlike write_file_atomic without waiting for the disk.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace dt::test {

inline void put_file(const std::filesystem::path& path, std::string_view bytes)
{
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace dt::test
