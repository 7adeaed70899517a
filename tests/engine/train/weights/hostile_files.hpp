// Files as somebody could craft them: a real checkpoint altered through libhdf5 or byte by byte, with a hash that fits again.
#pragma once

#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/spec/run_key.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "tests/engine/train/weights/mutation.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <functional>
#include <string>

#include <hdf5.h>

namespace dt::test {

inline constexpr std::size_t checkpoint_header_bytes = 512;

// Writes the bytes with the hash of all behind the header in it, as a whole checkpoint has it.
inline void write_sealed(const std::filesystem::path& path, std::string bytes)
{
  const auto hash = hash_hex(std::string_view(bytes).substr(checkpoint_header_bytes));
  bytes.replace(checkpoint_magic.size(), hash.size(), hash);
  replace_file(path, bytes);
}

// Alters a checkpoint through libhdf5.
inline void alter(const std::filesystem::path& path, const std::function<void(hid_t)>& change)
{
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  change(file);
  H5Fclose(file);
  write_sealed(path, read_file(path));
}

} // namespace dt::test
