#include "engine/train/weights/npz.hpp"

#include "core/error.hpp"
#include "engine/data/archives/npy_header.hpp"
#include "engine/data/archives/zip_file.hpp"
#include "engine/train/weights/input_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>

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

template<class Number> Number get(std::string_view bytes, std::size_t offset)
{
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
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

std::size_t count_of(std::span<const std::int64_t> dims)
{
  std::size_t count = 1;
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

// ---- numbers ----

float float_of_half(std::uint16_t half)
{
  const int exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  const float sign = half >> 15 ? -1.0F : 1.0F;
  if (exponent == 0x1f)
    return sign * (fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25));
}

template<class Number> void read_numbers(const char* bytes, std::span<float> values)
{
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = get<Number>({bytes + i * sizeof(Number), sizeof(Number)}, 0);
    if constexpr (std::is_same_v<Number, std::uint16_t>)
      values[i] = float_of_half(number);
    else
      values[i] = static_cast<float>(number);
  }
}

// How an array's numbers are stored, and how they become floats.
struct NumberType {
  std::size_t bytes;
  void (*read)(const char* bytes, std::span<float> values);
};

std::optional<NumberType> type_of(std::string_view description)
{
  if (description.starts_with("'<f4'")) return NumberType{4, read_numbers<float>};
  if (description.starts_with("'<f8'")) return NumberType{8, read_numbers<double>};
  if (description.starts_with("'<f2'")) return NumberType{2, read_numbers<std::uint16_t>};
  return std::nullopt;
}

// The values of an array whose first dimension changes fastest, with the last one changing fastest.
std::vector<float> in_plain_order(const std::vector<float>& values, std::span<const std::int64_t> dims)
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
  if (values.size() != count_of(tensor.dims))
    throw Error(ErrorKind::internal,
                fmt::format("Tensor {} of {} floats was given {}.", tensor.name, count_of(tensor.dims), values.size()));
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
    const data::ZipMember* member;
    std::size_t header_bytes; // before the first value
    NumberType type;
    bool in_fortran_order;
  };

  // The input file refuses what is no regular file, and names the file in errors.
  explicit Impl(const fs::path& path) : file(path), zip(in_zip([&] { return std::make_unique<data::ZipFile>(path); }))
  {
    for (const auto& member : zip->members()) add(member);
  }

  [[noreturn]] void refuse(const std::string& why) const { file.refuse(why); }

  // Calls `work` and makes its usage errors "read PATH: …" like those of InputFile.
  template<class Work> static auto in_zip(const Work& work) -> decltype(work())
  {
    try {
      return work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage, fmt::format("read {}", error.what()));
    }
  }

  void add(const data::ZipMember& member)
  {
    auto name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    require_plain_name(file, name);
    if (!names.insert(name).second) refuse(fmt::format("tensor {} is in the archive twice.", name));
    if (member.is_deflated) // a small file could unpack to any size
      refuse(fmt::format("tensor {} is compressed; write the archive with numpy.savez.", name));
    add_array(std::move(name), member);
  }

  void add_array(std::string name, const data::ZipMember& member)
  {
    std::string prefix(std::min<std::uint64_t>(member.bytes, npy_prefix), '\0');
    in_zip([&] { zip->read(member.begin, prefix); });
    if (prefix.size() < npy_prefix || !prefix.starts_with(npy_magic) || prefix[npy_magic.size()] != 1)
      refuse(fmt::format("member {} is no array in NumPy's format 1.", name));
    std::string words(get<std::uint16_t>(prefix, npy_magic.size() + 2), '\0');
    const auto header_bytes = npy_prefix + words.size();
    if (header_bytes > member.bytes) refuse(fmt::format("tensor {}: its header is longer than the member.", name));
    in_zip([&] { zip->read(member.begin + npy_prefix, words); });
    const auto type = type_of(data::npy_value(words, "descr"));
    if (!type) refuse(fmt::format("tensor {} is not of 16-, 32- or 64-bit floats ('<f2', '<f4', '<f8').", name));
    const auto order = data::npy_value(words, "fortran_order");
    if (!order.starts_with("True") && !order.starts_with("False"))
      refuse(fmt::format("tensor {} does not say whether it is in Fortran's order.", name));
    TensorName tensor{std::move(name), {}};
    if (!data::read_npy_shape(data::npy_value(words, "shape"), tensor.dims))
      refuse(fmt::format("tensor {} has no shape.", tensor.name));
    if (header_bytes + checked_elements(file, tensor.name, tensor.dims, file.size(), type->bytes) * type->bytes != member.bytes)
      refuse(fmt::format("tensor {} holds another number of bytes than its shape says.", tensor.name));
    tensors.push_back(std::move(tensor));
    places.push_back({&member, header_bytes, *type, order.starts_with("True")});
  }

  std::vector<float> values_of(std::size_t index)
  {
    const auto& place = places.at(index);
    std::vector<float> values(count_of(tensors[index].dims));
    std::string bytes(place.header_bytes + values.size() * place.type.bytes, '\0');
    in_zip([&] { data::ZipStream(*zip, *place.member).read(bytes); }); // the whole member, so the checksum is compared
    place.type.read(bytes.data() + place.header_bytes, values);
    return place.in_fortran_order ? in_plain_order(values, tensors[index].dims) : values;
  }

  InputFile file;
  std::unique_ptr<data::ZipFile> zip;
  std::vector<TensorName> tensors;
  std::vector<Place> places;
  std::set<std::string> names;
};

NpzReader::NpzReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
NpzReader::~NpzReader() = default;
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;
const std::vector<TensorName>& NpzReader::tensors() const { return impl_->tensors; }
std::vector<float> NpzReader::read(std::size_t index) const { return impl_->values_of(index); }

} // namespace dt::train
