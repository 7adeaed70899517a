// Sources of packed sets for tests: tar files, archives of NumPy and folders of images. Tar and zip are put together byte by
// byte.
#pragma once

#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "engine/data/images/png.hpp"
#include "engine/data/packing/pack.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <zlib.h>

namespace dt::test {

namespace fs = std::filesystem;
using data::Image;

// An image of noise and gradients that differs for every number.
inline Image numbered_image(std::int64_t number, std::int64_t height = 6, std::int64_t width = 5, std::int64_t channels = 3)
{
  Image image = data::gradient(height, width, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>(image.pixels[i] + number * 7 + static_cast<std::int64_t>(i) % 5 * number);
  return image;
}

inline std::string text_of(const Image& image) { return {image.pixels.begin(), image.pixels.end()}; }
inline std::string png(std::int64_t number, std::int64_t height = 6, std::int64_t width = 5, std::int64_t channels = 3)
{
  return data::encode_png(numbered_image(number, height, width, channels));
}

// FOLDER/CLASS/N.png for N below `count`.
inline void write_class_folders(const fs::path& folder, const std::vector<std::string>& classes, std::int64_t count)
{
  std::int64_t number = 0;
  for (const auto& name : classes)
    for (std::int64_t i = 0; i < count; ++i) write(folder / name / (std::to_string(i) + ".png"), png(number++));
}

using Member = std::pair<std::string, std::string>; // name, content

// A tar file in the ustar format.
inline std::string tar(const std::vector<Member>& members)
{
  std::string bytes;
  for (const auto& [name, content] : members) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    char size[12];
    std::snprintf(size, sizeof size, "%011o", static_cast<unsigned>(content.size()));
    put(0, name);
    put(100, "0000644");
    put(124, size);
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const unsigned char c : header) sum += c;
    char checksum[8];
    std::snprintf(checksum, sizeof checksum, "%06o", sum);
    put(148, std::string(checksum, 7) + " ");
    bytes += header + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return bytes + std::string(1024, '\0');
}

// An array in NumPy's format. shape: "(2, 3)".
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& values,
                       const std::string& fortran = "False")
{
  std::string words = "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  words.resize((10 + words.size() + 64) / 64 * 64 - 11, ' ');
  words += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(words.size() & 0xff) + static_cast<char>(words.size() >> 8) +
         words + values;
}

inline std::string little_endian(std::uint64_t value, int bytes)
{
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

inline std::string deflated(std::string_view bytes) { return compressed(bytes, -15); }

// A zip archive. is_large: all sizes and offsets are in zip64 fields, as in archives above 4 GiB.
inline std::string zip(const std::vector<Member>& members, bool is_deflated = false, bool is_large = false)
{
  std::string bytes, directory;
  for (const auto& [name, content] : members) {
    const auto packed = is_deflated ? deflated(content) : content;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const auto method = little_endian(is_deflated ? 8 : 0, 2);
    const auto sizes = is_large ? std::string(8, '\xff') : little_endian(packed.size(), 4) + little_endian(content.size(), 4);
    const auto own_sizes = little_endian(packed.size(), 4) + little_endian(content.size(), 4);
    auto extra = is_large ? little_endian(1, 2) + little_endian(24, 2) + little_endian(content.size(), 8) +
                                little_endian(packed.size(), 8) + little_endian(bytes.size(), 8)
                          : "";
    directory += "PK\x01\x02" + std::string(4, '\x14') + std::string(2, '\0') + method + std::string(4, '\0') +
                 little_endian(crc, 4) + sizes + little_endian(name.size(), 2) + little_endian(extra.size(), 2) +
                 std::string(10, '\0') + (is_large ? std::string(4, '\xff') : little_endian(bytes.size(), 4)) + name + extra;
    bytes += "PK\x03\x04" + std::string("\x14\0\0\0", 4) + method + std::string(4, '\0') + little_endian(crc, 4) + own_sizes +
             little_endian(name.size(), 2) + std::string(2, '\0') + name + packed;
  }
  const auto begin = bytes.size(), count = members.size();
  bytes += directory;
  if (is_large)
    bytes += "PK\x06\x06" + little_endian(44, 8) + std::string(4, '\x2d') + std::string(8, '\0') + little_endian(count, 8) +
             little_endian(count, 8) + little_endian(directory.size(), 8) + little_endian(begin, 8) + "PK\x06\x07" +
             std::string(4, '\0') + little_endian(begin + directory.size(), 8) + little_endian(1, 4);
  return bytes + "PK\x05\x06" + std::string(4, '\0') + little_endian(is_large ? 0xffff : count, 2) +
         little_endian(is_large ? 0xffff : count, 2) + little_endian(is_large ? 0xffffffff : directory.size(), 4) +
         little_endian(is_large ? 0xffffffff : begin, 4) + std::string(2, '\0');
}

// Options that pack everything into training records in the order of the source.
inline data::PackOptions plain_options(const fs::path& source, const fs::path& output)
{
  data::PackOptions options;
  options.source.path = source;
  options.output = output;
  options.split = {0.0, 1, false};
  options.threads = 2;
  return options;
}

// What packing is refused with; "" if it is not.
inline std::string complaint(const data::PackOptions& options)
{
  try {
    data::pack_data(options);
    return {};
  } catch (const Error& error) {
    CHECK(exit_code_of(error.kind()) == ExitCode::usage);
    return error.what();
  }
}

// Packs until `parts` parts are done, then stops as if the reader of the progress had ended.
inline void pack_partly(data::PackOptions options, int parts)
{
  options.threads = 1;
  options.progress = [&](std::int64_t, std::int64_t) {
    if (parts-- == 0) throw Error(ErrorKind::environment, "stop");
  };
  CHECK_THROWS_WITH(data::pack_data(options), "stop");
}

inline std::string record(const PackedFile& file, std::int64_t index)
{
  std::string bytes;
  file.read(index, bytes);
  return bytes;
}

} // namespace dt::test
