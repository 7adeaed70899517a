// Arrays in archives of NumPy (.npz): a zip archive with a member NAME.npy for each array. numpy.savez stores the members,
// numpy.savez_compressed deflates them.
//
//   npy = "\x93NUMPY" major minor length "{'descr': '|u1', 'fortran_order': False, 'shape': (10, 28, 28), }" spaces LF values
//         length: u16 in version 1, u32 in versions 2 and 3
#include "core/text.hpp"
#include "engine/data/archives/npy_header.hpp"
#include "engine/data/archives/zip_file.hpp"
#include "engine/data/packing/readers/array_source.hpp"
#include "engine/data/packing/readers/readers.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// "uint8" for "'|u1'".
std::string type_name(std::string_view descr)
{
  descr = descr.substr(0, descr.find('\'', 1));
  if (descr.size() != 4) return std::string(descr.substr(std::min<std::size_t>(1, descr.size())));
  const char order = descr[1], kind = descr[2], bytes = descr[3];
  const auto name = kind == 'u' ? "uint" : kind == 'i' ? "int" : kind == 'f' ? "float" : "of type ";
  return order == '>' && bytes != '1' ? "of big-endian values" : fmt::format("{}{}", name, 8 * (bytes - '0'));
}

class NpzArrays final : public ArrayFile {
 public:
  explicit NpzArrays(const fs::path& path) : file_(path)
  {
    for (const auto& member : file_.members())
      if (member.name.ends_with(".npy")) add(member);
  }

  void read_rows(const ArrayInfo& array, std::int64_t first, std::int64_t count, std::string& bytes) override
  {
    const auto& place = places_.at(array.name);
    const auto begin = place.header_bytes + static_cast<std::uint64_t>(first) * array.row_bytes();
    if (!stream_ || open_ != array.name || stream_->position() > begin) {
      stream_ = std::make_unique<ZipStream>(file_, *place.member);
      open_ = array.name;
    }
    stream_->skip(begin - stream_->position());
    bytes.resize(static_cast<std::size_t>(count) * array.row_bytes());
    stream_->read(bytes);
  }

  std::vector<std::int64_t> read_integers(const ArrayInfo& array) override
  {
    const auto& place = places_.at(array.name);
    ZipStream stream(file_, *place.member);
    stream.skip(place.header_bytes);
    std::string bytes(place.member->bytes - place.header_bytes, '\0');
    stream.read(bytes);
    const auto count = static_cast<std::size_t>(array.shape[0]), width = bytes.size() / std::max<std::size_t>(1, count);
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = integer_at(bytes.data() + i * width, width, array.type.starts_with('i'));
    return values;
  }

 private:
  struct Place {
    const ZipMember* member;
    std::uint64_t header_bytes;
  };

  static std::int64_t integer_at(const char* bytes, std::size_t width, bool is_signed)
  {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, width);
    if (is_signed && width < sizeof value && (value >> (8 * width - 1)) != 0) value |= ~std::uint64_t{0} << (8 * width);
    return static_cast<std::int64_t>(value);
  }

  // Reads the header of the member's array.
  void add(const ZipMember& member)
  {
    const auto name = member.name.substr(0, member.name.size() - 4);
    const auto refuse = [&](std::string_view cause) {
      return file_.damaged(fmt::format("member {} {}.", printable(member.name), cause));
    };
    ZipStream stream(file_, member);
    std::string prefix(8, '\0'), length(2, '\0');
    if (member.bytes < 10) throw refuse("is not an array of NumPy");
    stream.read(prefix);
    if (!prefix.starts_with("\x93NUMPY") || prefix[6] < 1 || prefix[6] > 3) throw refuse("is not an array of NumPy");
    if (prefix[6] > 1) length.resize(4);
    stream.read(length);
    std::uint32_t words_bytes = 0;
    std::memcpy(&words_bytes, length.data(), length.size());
    constexpr std::uint32_t longest = 1 << 20;
    if (words_bytes > longest) throw refuse("has a header that is too long");
    std::string words(words_bytes, '\0');
    stream.read(words);
    ArrayInfo array{name, {}, type_name(npy_value(words, "descr"))};
    if (!read_npy_shape(npy_value(words, "shape"), array.shape)) throw refuse("has a header without a shape");
    if (array.shape.size() > 1 && !npy_value(words, "fortran_order").starts_with("False")) throw refuse("is in Fortran's order");
    if (is_integer(array)) require_size(array, member.bytes - stream.position(), refuse);
    places_[name] = {&member, stream.position()};
    if (!array.shape.empty()) arrays_.push_back(std::move(array));
  }

  template<class Refuse> static void require_size(const ArrayInfo& array, std::uint64_t bytes, const Refuse& refuse)
  {
    std::uint64_t values = static_cast<std::uint64_t>(array.type.back() == '8'     ? 1
                                                      : array.type.ends_with("16") ? 2
                                                      : array.type.ends_with("32") ? 4
                                                                                   : 8);
    for (const auto size : array.shape) {
      const auto factor = static_cast<std::uint64_t>(size);
      if (factor != 0 && values > bytes / factor) throw refuse("holds fewer bytes than its shape says");
      values *= factor;
    }
    if (values != bytes) throw refuse("holds another number of bytes than its shape says");
  }

  ZipFile file_;
  std::map<std::string, Place> places_;
  std::unique_ptr<ZipStream> stream_;
  std::string open_; // the array that stream_ reads
};

} // namespace

std::unique_ptr<SourceReader> read_npz_arrays(const SourceOptions& options)
{
  return make_array_source(std::make_unique<NpzArrays>(options.path), options, "npz");
}

} // namespace dt::data
