// Arrays in archives of NumPy (.npz): a zip archive with a member NAME.npy for each array. numpy.savez stores the members,
// numpy.savez_compressed deflates them.
#include "core/text.hpp"
#include "engine/data/archives/npy_header.hpp"
#include "engine/data/packing/readers/array_source.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// "uint8" for "|u1".
std::string type_name(std::string_view type)
{
  const char kind = type.size() < 2 ? '?' : type[1];
  if (type == "|b1") return "bool";
  if (kind == 'U' || kind == 'S') return "text";
  if (kind == 'O') return "of Python objects";
  const auto name = kind == 'u' ? "uint" : kind == 'i' ? "int" : kind == 'f' ? "float" : "";
  if (*name == '\0' || type.size() != 3) return "of type " + std::string(type);
  return type[0] == '>' && type[2] != '1' ? "of big-endian values" : fmt::format("{}{}", name, 8 * (type[2] - '0'));
}

class NpzArrays final : public ArrayFile {
 public:
  explicit NpzArrays(const fs::path& path) : path_(path)
  {
    ArchiveFile archive(path, ArchiveKind::zip);
    while (archive.next())
      if (archive.name().ends_with(".npy")) add(archive);
  }

  void read_rows(const ArrayInfo& array, std::int64_t first, std::int64_t count, std::string& bytes) override
  {
    const auto begin = static_cast<std::uint64_t>(first) * array.row_bytes();
    if (!open_ || open_->name != array.name || open_->position() > begin) open_.emplace(path_, array.name);
    open_->archive.skip(begin - open_->position());
    open_->archive.read(static_cast<std::uint64_t>(count) * array.row_bytes(), bytes);
  }

  std::vector<std::int64_t> read_integers(const ArrayInfo& array) override
  {
    const auto count = static_cast<std::size_t>(array.shape[0]), width = value_bytes(array);
    std::string bytes;
    OpenArray(path_, array.name).archive.read(count * width, bytes);
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = integer_at(bytes.data() + i * width, width, array.type.starts_with('i'));
    return values;
  }

 private:
  // The archive inside of an array.
  struct OpenArray {
    OpenArray(const fs::path& path, const std::string& array) : name(array), archive(path, ArchiveKind::zip)
    {
      while (archive.next())
        if (archive.name() == name + ".npy") {
          read_npy_header(archive);
          header_bytes = archive.position();
          return;
        }
      throw source_error(path, fmt::format("array {} is no longer there.", printable(name)));
    }
    std::uint64_t position() const { return archive.position() - header_bytes; }
    std::string name;
    ArchiveFile archive;
    std::uint64_t header_bytes = 0;
  };

  static std::int64_t integer_at(const char* bytes, std::size_t width, bool is_signed)
  {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, width);
    if (is_signed && width < sizeof value && (value >> (8 * width - 1)) != 0) value |= ~std::uint64_t{0} << (8 * width);
    return static_cast<std::int64_t>(value);
  }

  void add(ArchiveFile& archive)
  {
    const auto header = read_npy_header(archive);
    ArrayInfo array{archive.name().substr(0, archive.name().size() - 4), header.shape, type_name(header.type),
                    header.is_fortran && header.shape.size() > 1};
    if (is_integer(array)) require_size(array, archive);
    if (!array.shape.empty()) arrays_.push_back(std::move(array));
  }

  // Bytes of one number of an array of integers.
  static std::size_t value_bytes(const ArrayInfo& array)
  {
    return array.type == "bool" || array.type.back() == '8' ? 1
           : array.type.ends_with("16")                     ? 2
           : array.type.ends_with("32")                     ? 4
                                                            : 8;
  }

  static void require_size(const ArrayInfo& array, const ArchiveFile& archive)
  {
    const auto bytes = archive.size() - archive.position();
    std::uint64_t values = value_bytes(array);
    for (const auto size : array.shape) {
      const auto factor = static_cast<std::uint64_t>(size);
      if (factor != 0 && values > bytes / factor) throw archive.refusal("holds fewer bytes than its shape says.");
      values *= factor;
    }
    if (values != bytes) throw archive.refusal("holds another number of bytes than its shape says.");
  }

  fs::path path_;
  std::optional<OpenArray> open_; // the array whose rows were read last
};

} // namespace

std::unique_ptr<SourceReader> read_npz_arrays(const SourceOptions& options)
{
  return make_array_source(std::make_unique<NpzArrays>(options.path), options, "npz");
}

} // namespace dt::data
