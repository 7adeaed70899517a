#include "engine/train/weights/npz.hpp"

#include "core/error.hpp"
#include "engine/data/archives/npy_header.hpp"
#include "engine/train/weights/input_file.hpp"
#include "engine/train/weights/number_type.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

namespace dt::train {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "values and zip's fields are written as they lie in memory");

// ---- zip records, field by field (PKWARE's APPNOTE, 4.3.7, 4.3.12, 4.3.16) ----

constexpr std::uint32_t member_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr std::size_t member_bytes = 30;
constexpr std::uint16_t version = 20, utf8_names = 0x0800, stored = 0;
// 1980-01-01, the earliest date of the format; a fixed date gives equal bytes for equal tensors
constexpr std::uint16_t first_day = (1 << 5) | 1;

template<class Number> void put(std::string& bytes, Number number)
{
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0)
{
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Writes the fields that a member's header and its directory entry share, beginning with the version.
void put_common(std::string& bytes, const std::string& name, std::uint32_t crc, std::uint32_t size)
{
  for (const std::uint16_t field : {version, utf8_names, stored, std::uint16_t{0}, first_day}) put(bytes, field);
  for (const std::uint32_t field : {crc, size, size}) put(bytes, field);
  put(bytes, static_cast<std::uint16_t>(name.size()));
  put(bytes, std::uint16_t{0}); // no extra field
}

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
  header += {'\x01', '\x00'};
  put(header, static_cast<std::uint16_t>(words.size()));
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
  const auto name = tensor.name + ".npy", header = npy_header(tensor.dims);
  const std::string_view content(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  if (archive_.size() + member_bytes + name.size() + header.size() + content.size() > most)
    throw Error(
        ErrorKind::environment,
        fmt::format("Tensor {} would make the archive larger than 4 GiB, which is as far as .npz goes here.", tensor.name));
  if (members_.size() == std::numeric_limits<std::uint16_t>::max())
    throw Error(ErrorKind::environment,
                fmt::format("Tensor {} is one more than the {} that an .npz holds here.", tensor.name, members_.size()));
  const Member member{name, checksum(content, checksum(header)), static_cast<std::uint32_t>(header.size() + content.size()),
                      static_cast<std::uint32_t>(archive_.size())};
  put(archive_, member_mark);
  put_common(archive_, name, member.crc, member.bytes);
  archive_.append(name).append(header).append(content);
  members_.push_back(member);
}

std::string NpzWriter::finish()
{
  const auto begin = archive_.size();
  for (const auto& member : members_) {
    put(archive_, entry_mark);
    put(archive_, version);
    put_common(archive_, member.name, member.crc, member.bytes);
    for (int field = 0; field < 3; ++field) put(archive_, std::uint16_t{0}); // length of the comment, disk, internal attributes
    put(archive_, std::uint32_t{0100644U << 16}); // external attributes: a file that everybody may read
    put(archive_, member.offset);
    archive_ += member.name;
  }
  const auto size = archive_.size() - begin;
  if (archive_.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::environment, "The archive would be larger than 4 GiB, which is as far as .npz goes here.");
  put(archive_, end_mark);
  put(archive_, std::uint32_t{0}); // number of this disk, and of the directory's disk
  for (int times = 0; times < 2; ++times) put(archive_, static_cast<std::uint16_t>(members_.size()));
  put(archive_, static_cast<std::uint32_t>(size));
  put(archive_, static_cast<std::uint32_t>(begin));
  put(archive_, std::uint16_t{0}); // no comment
  return std::move(archive_);
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
