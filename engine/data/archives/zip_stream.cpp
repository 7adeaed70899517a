#include "core/text.hpp"
#include "engine/data/archives/zip_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>

namespace dt::data {

struct ZipStream::Inflater {
  z_stream stream{};
  Inflater()
  {
    constexpr int without_header = -15; // the largest window
    if (inflateInit2(&stream, without_header) != Z_OK)
      throw Error(ErrorKind::environment, "zlib could not start: out of memory.");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

ZipStream::ZipStream(const ZipFile& file, const ZipMember& member) : file_(file), member_(member)
{
  if (member.is_deflated) inflater_ = std::make_unique<Inflater>();
}

ZipStream::~ZipStream() = default;

void ZipStream::read(std::string& bytes)
{
  if (bytes.size() > member_.bytes - position_)
    throw file_.damaged(fmt::format("member {} ends before its last value.", printable(member_.name)));
  if (inflater_)
    for (std::size_t done = 0; done < bytes.size();) done += inflate_into(bytes.data() + done, bytes.size() - done);
  else
    file_.read(member_.begin + position_, bytes);
  crc_ = static_cast<std::uint32_t>(crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  position_ += bytes.size();
  if (position_ == member_.bytes && crc_ != member_.crc)
    throw file_.damaged(fmt::format("member {} is damaged: its checksum does not fit. Fetch or make the archive again.",
                                    printable(member_.name)));
}

void ZipStream::skip(std::uint64_t count)
{
  std::string block;
  for (constexpr std::uint64_t most = std::uint64_t{1} << 20; count > 0; count -= block.size()) {
    block.resize(std::min(count, most));
    read(block);
  }
}

void ZipStream::read_packed()
{
  constexpr std::uint64_t block = std::uint64_t{1} << 18;
  packed_.resize(std::min(block, member_.packed_bytes - packed_position_));
  file_.read(member_.begin + packed_position_, packed_);
  packed_position_ += packed_.size();
  inflater_->stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
  inflater_->stream.avail_in = static_cast<uInt>(packed_.size());
}

// Returns the number of bytes, at least one.
std::size_t ZipStream::inflate_into(char* to, std::size_t count)
{
  constexpr std::size_t most = std::size_t{1} << 30; // zlib counts in 32 bits
  auto& stream = inflater_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(to);
  const auto wanted = static_cast<uInt>(std::min(count, most));
  stream.avail_out = wanted;
  while (stream.avail_out == wanted) {
    if (stream.avail_in == 0) read_packed();
    const int code = inflate(&stream, Z_NO_FLUSH);
    const bool has_ended = code == Z_STREAM_END || (stream.avail_in == 0 && packed_position_ == member_.packed_bytes);
    if ((code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) || (has_ended && stream.avail_out == wanted))
      throw file_.damaged(fmt::format("member {} is damaged: it cannot be decompressed. Fetch or make the archive again.",
                                      printable(member_.name)));
  }
  return wanted - stream.avail_out;
}

} // namespace dt::data
