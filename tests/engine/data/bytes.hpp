// Files of the data formats, put together byte by byte: nothing of the readers or makers is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

#include <zlib.h>

namespace dt::test {

inline void write(const std::filesystem::path& path, std::string_view bytes)
{
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read(const std::filesystem::path& path)
{
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

inline std::string big_endian(std::uint32_t value)
{
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline unsigned byte_at(const std::string& bytes, std::size_t at) { return static_cast<unsigned char>(bytes.at(at)); }

inline unsigned big_endian_at(const std::string& bytes, std::size_t at)
{
  return byte_at(bytes, at) << 24 | byte_at(bytes, at + 1) << 16 | byte_at(bytes, at + 2) << 8 | byte_at(bytes, at + 3);
}

// An IDX file: magic number, a size a dimension, values.
inline std::string idx(std::uint32_t magic, std::initializer_list<std::uint32_t> sizes, std::string_view values)
{
  std::string bytes = big_endian(magic);
  for (const auto size : sizes) bytes += big_endian(size);
  return bytes.append(values);
}

// first, first + 1, … modulo 256.
inline std::string counting(std::size_t count, unsigned first = 0)
{
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(first + i);
  return bytes;
}

// Compressed by zlib. window_bits: 15 + 16 writes a gzip file, -15 bare deflated data.
inline std::string compressed(std::string_view bytes, int window_bits)
{
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string gzip(std::string_view bytes) { return compressed(bytes, 15 + 16); }

} // namespace dt::test
