// The formats of sources, and how they are recognised.
#include "core/error.hpp"
#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/extensions.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

bool has_file(const fs::path& folder, std::initializer_list<const char*> names)
{
  return std::ranges::any_of(names, [&](const char* name) {
    std::error_code error;
    return fs::is_regular_file(folder / name, error);
  });
}

// The first `count` bytes of a file.
std::string first_bytes(const fs::path& path, std::size_t count)
{
  std::string bytes(count, '\0');
  const auto file = open_if_exists(path);
  const auto got = file.is_open() ? ::read(file.get(), bytes.data(), count) : 0;
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

bool is_hdf5(const fs::path& path)
{
  if (fs::is_directory(path)) return false;
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n"; // at byte 0, 512, 1024, …
  const auto bytes = first_bytes(path, 2048 + signature.size());
  for (const std::size_t at : {0, 512, 1024, 2048})
    if (bytes.size() >= at && std::string_view(bytes).substr(at).starts_with(signature)) return true;
  return false;
}

bool is_npz(const fs::path& path) { return !fs::is_directory(path) && first_bytes(path, 4).starts_with("PK"); }

bool has_tar_file(const fs::path& folder) { return std::ranges::any_of(names_in(folder), has_tar_name); }

bool is_tar(const fs::path& path)
{
  if (!fs::is_directory(path)) {
    const auto bytes = first_bytes(path, 512);
    return has_tar_name(path.filename().string()) || bytes.starts_with("\x1f\x8b") ||
           (bytes.size() == 512 && bytes.compare(257, 5, "ustar") == 0);
  }
  return has_tar_file(path) || (is_there(path / "train") && fs::is_directory(path / "train") && has_tar_file(path / "train"));
}

bool is_idx(const fs::path& path)
{
  return has_file(
      path, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz", "train-images.idx3-ubyte", "train-images.idx3-ubyte.gz"});
}

bool is_cifar10(const fs::path& path) { return has_file(path, {"data_batch_1.bin", "cifar-10-batches-bin/data_batch_1.bin"}); }
bool is_cifar100(const fs::path& path)
{
  return has_file(path, {"fine_label_names.txt", "cifar-100-binary/train.bin"}) ||
         (has_file(path, {"train.bin"}) && has_file(path, {"test.bin"}));
}

bool is_folder_of_classes(const fs::path& path) { return fs::is_directory(path); }

enum class Place { folder, file, either };

struct Format {
  std::string_view name;
  Place place; // of its sources
  bool (*matches)(const fs::path& path);
  std::unique_ptr<SourceReader> (*open)(const SourceOptions& options);
};

// In the order in which they are tried.
constexpr std::array formats{
    Format{"idx", Place::folder, is_idx, read_idx_folder},
    Format{"cifar10", Place::folder, is_cifar10, read_cifar10_folder},
    Format{"cifar100", Place::folder, is_cifar100, read_cifar100_folder},
    Format{"hdf5", Place::file, is_hdf5, read_hdf5_arrays},
    Format{"npz", Place::file, is_npz, read_npz_arrays},
    Format{"tar", Place::either, is_tar, read_tar_shards},
    Format{"folder", Place::folder, is_folder_of_classes, read_class_folders},
};

void require_place(const fs::path& path, const Format& format)
{
  const bool is_directory = fs::is_directory(path);
  if (format.place == Place::folder && !is_directory)
    throw source_error(path, fmt::format("--format {} needs a folder, but this is a file.", format.name));
  if (format.place == Place::file && is_directory)
    throw source_error(path, fmt::format("--format {} needs a file, but this is a folder.", format.name));
}

// An option that the format does not read would change nothing, without a word.
void require_options(const SourceOptions& options, std::string_view format)
{
  const bool has_arrays = format == "hdf5" || format == "npz";
  const auto refuse = [&](std::string_view option, const std::string& value, bool is_read, std::string_view readers) {
    if (!value.empty() && !is_read)
      throw Error(ErrorKind::usage, fmt::format("{} is for the formats {}, but {} has the format {}. Leave out {}.", option,
                                                readers, printable(options.path.string()), format, option));
  };
  refuse("--images", options.images, has_arrays || format == "tar", "hdf5, npz and tar");
  refuse("--labels", options.labels, has_arrays || format == "tar", "hdf5, npz and tar");
  refuse("--layout", options.layout, has_arrays, "hdf5 and npz");
  if (!options.test_folder.empty() && format != "folder")
    throw Error(ErrorKind::usage, fmt::format("--test-folder is for the format folder, but {} has the format {}. Leave it out.",
                                              printable(options.path.string()), format));
}

// The description of a set is JSON, which can hold no other names.
void require_utf8(const fs::path& path, const std::vector<std::string>& classes)
{
  for (const auto& name : classes)
    if (!is_valid_utf8(name))
      throw source_error(path, fmt::format("the name of the class {} is not UTF-8. Rename the class.", printable(name)));
}

} // namespace

std::vector<std::string> source_formats()
{
  std::vector<std::string> names;
  for (const auto& format : formats) names.emplace_back(format.name);
  return names;
}

std::unique_ptr<SourceReader> open_source(const SourceOptions& options)
{
  if (!is_there(options.path)) throw source_error(options.path, "there is no such file or folder.");
  if (!fs::is_directory(options.path) && !fs::is_regular_file(options.path))
    throw source_error(options.path, "this is neither a folder nor a regular file.");
  const auto found = std::ranges::find_if(formats, [&](const Format& format) {
    return options.format.empty() ? format.matches(options.path) : format.name == options.format;
  });
  if (found == formats.end() && !options.format.empty())
    throw Error(ErrorKind::usage, fmt::format("--format {}: there is no such format; there are {}.", options.format,
                                              fmt::join(source_formats(), ", ")));
  if (found == formats.end())
    throw source_error(options.path, "this is not a data set that can be packed: a folder with a sub-folder of images for each "
                                     "class, tar files, HDF5, .npz, or the files of MNIST or CIFAR.");
  require_place(options.path, *found);
  require_options(options, found->name);
  auto source = found->open(options);
  require_utf8(options.path, source->listing().classes);
  return source;
}

} // namespace dt::data
