#include "engine/train/weights/npz.hpp"

#include "core/error.hpp"
#include "engine/data/archives/npy_header.hpp"
#include "engine/train/weights/input_file.hpp"
#include "engine/train/weights/number_type.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

// ---- npy header ----

constexpr std::string_view npy_magic = "\x93NUMPY";
// prefix: magic, version, length; the whole header is a multiple of 64 bytes
constexpr std::size_t npy_prefix = 10, npy_alignment = 64;

std::string npy_header(std::span<const std::int64_t> dims)
{
  auto words = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}", fmt::join(dims, ", "),
                           dims.size() == 1 ? "," : "");
  const std::size_t whole = (npy_prefix + words.size() + npy_alignment) / npy_alignment * npy_alignment;
  words.resize(whole - npy_prefix - 1, ' ');
  words += '\n';
  std::string header(npy_magic);
  const auto length = words.size();
  header += {'\x01', '\x00', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return header + words;
}

// ---- numbers ----

// Null for any other type.
const NumberType* type_of(std::string_view npy_type)
{
  return npy_type == "<f2" ? &float16 : npy_type == "<f4" ? &float32 : npy_type == "<f8" ? &float64 : nullptr;
}

// The values of an array whose first dimension changes fastest, with the last one changing fastest.
std::vector<float> in_plain_order(std::span<const float> values, std::span<const std::int64_t> dims)
{
  std::vector<float> plain(values.size());
  std::vector<std::size_t> place(dims.size(), 0);
  for (const float value : values) {
    std::size_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) at = at * static_cast<std::size_t>(dims[d]) + place[d];
    plain[at] = value;
    for (std::size_t d = 0; d < dims.size() && ++place[d] == static_cast<std::size_t>(dims[d]); ++d) place[d] = 0;
  }
  return plain;
}

} // namespace

// ---- writing ----

void NpzWriter::add(const TensorName& tensor, std::span<const float> values)
{
  if (values.size() != element_count(tensor.dims))
    throw Error(ErrorKind::internal,
                fmt::format("Tensor {} of {} floats was given {}.", tensor.name, element_count(tensor.dims), values.size()));
  const std::string_view content(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  archive_.add(tensor.name + ".npy", {npy_header(tensor.dims), content});
}

// ---- reading ----

struct NpzReader::Impl {
  struct Place {
    const NumberType* type;
    bool is_fortran;
  };

  // The input file refuses what is no regular file.
  explicit Impl(const fs::path& path) : file(path)
  {
    for (rewind(); archive->next();) add();
    rewind();
  }

  void rewind()
  {
    archive.emplace(file.path(), data::ArchiveKind::zip);
    next = 0;
  }

  // Adds the archive's member.
  void add()
  {
    auto name = archive->name();
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    require_plain_name(file, name);
    if (!names.insert(name).second) file.refuse(fmt::format("tensor {} is in the archive twice.", name));
    auto header = data::read_npy_header(*archive);
    const auto* type = type_of(header.type);
    if (type == nullptr) file.refuse(fmt::format("tensor {} is not of 16-, 32- or 64-bit floats ('<f2', '<f4', '<f8').", name));
    const auto bytes = archive->size() - archive->position();
    if (checked_elements(file, name, header.shape, bytes, type->bytes) * type->bytes != bytes)
      file.refuse(fmt::format("tensor {} holds another number of bytes than its shape says.", name));
    tensors.push_back({std::move(name), std::move(header.shape)});
    places.push_back({type, header.is_fortran});
  }

  void read(std::size_t index, std::span<float> values)
  {
    if (index < next) rewind();
    for (; next <= index; ++next)
      if (!archive->next()) file.refuse("it has changed since it was opened.");
    data::read_npy_header(*archive);
    const auto& place = places.at(index);
    read_numbers(*place.type, values, [&](std::string& block) { archive->read(block.size(), block); });
    if (place.is_fortran) std::ranges::copy(in_plain_order(values, tensors[index].dims), values.begin());
  }

  InputFile file;
  std::optional<data::ArchiveFile> archive;
  std::size_t next = 0; // index of the archive's next member
  std::vector<TensorName> tensors;
  std::vector<Place> places; // by tensor
  std::set<std::string> names;
};

NpzReader::NpzReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
NpzReader::~NpzReader() = default;
const std::vector<TensorName>& NpzReader::tensors() const { return impl_->tensors; }
void NpzReader::read(std::size_t index, std::span<float> values) const { impl_->read(index, values); }

} // namespace dt::train
