#include "engine/data/sources/block_reader.hpp"

#include "core/error.hpp"
#include "engine/data/out_of_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dt::data {
namespace {

constexpr std::uint64_t page = 4096; // alignment that O_DIRECT needs of memory, place and length

std::uint64_t rounded_down(std::uint64_t bytes) { return bytes / page * page; }
std::uint64_t rounded_up(std::uint64_t bytes) { return rounded_down(bytes + page - 1); }

Descriptor open_direct(const std::filesystem::path& path)
{
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
  if (file.is_open()) return file;
  const int number = errno;
  throw Error(ErrorKind::recipe, fmt::format("packed set {} cannot be read past the page cache ({}). Set data.direct_io: false.",
                                             path.string(), system_error("open with O_DIRECT", number).what()));
}

} // namespace

BlockMemory::~BlockMemory()
{
  for (const auto& piece : free_) ::munmap(piece.begin, piece.bytes);
}

BlockMemory::Piece BlockMemory::take(std::uint64_t bytes)
{
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const auto piece = free_.back();
      free_.pop_back();
      if (piece.bytes >= bytes) return piece;
      ::munmap(piece.begin, piece.bytes);
    }
  }
  const auto wanted = rounded_up(bytes + bytes / 8 + page); // blocks of one set differ by little
  auto* mapped = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<char*>(mapped), wanted};
}

void BlockMemory::give_back(Piece piece)
{
  const std::lock_guard lock(mutex_);
  try {
    free_.push_back(piece);
  } catch (const std::bad_alloc&) {
    ::munmap(piece.begin, piece.bytes);
  }
}

RecordBlock::RecordBlock(std::shared_ptr<BlockMemory> memory, std::uint64_t begin, std::uint64_t bytes)
    : memory_(std::move(memory)), begin_(begin), size_(bytes), piece_(memory_->take(bytes))
{
}

RecordBlock::~RecordBlock() { memory_->give_back(piece_); }

std::string_view RecordBlock::bytes_of(const PackedEntry& entry) const
{
  if (entry.begin < begin_ || entry.begin > begin_ + size_) return {};
  const std::string_view all(piece_.begin, size_);
  return all.substr(entry.begin - begin_, entry.bytes);
}

BlockReader::BlockReader(std::shared_ptr<const PackedFile> file, bool is_direct)
    : file_(std::move(file)), direct_(is_direct ? open_direct(file_->path()) : Descriptor(-1))
{
}

std::shared_ptr<const RecordBlock> BlockReader::read(SampleRange records) const
{
  try {
    return read_block(records);
  } catch (const std::bad_alloc&) {
    throw out_of_memory(
        fmt::format("packed set {}: reading the records {} to {}", file_->path().string(), records.begin, records.end - 1));
  }
}

std::shared_ptr<const RecordBlock> BlockReader::read_block(SampleRange records) const
{
  const auto entries =
      file_->entries().subspan(static_cast<std::size_t>(records.begin), static_cast<std::size_t>(records.size()));
  std::uint64_t begin = file_->file_bytes(), end = 0;
  for (const auto& entry : entries) {
    begin = std::min(begin, entry.begin);
    end = std::max(end, entry.begin + entry.bytes);
  }
  if (direct_.is_open()) begin = rounded_down(begin), end = rounded_up(end);
  auto block = std::make_shared<RecordBlock>(memory_, begin, end - begin);
  const int descriptor = direct_.is_open() ? direct_.get() : file_->descriptor();
  for (std::uint64_t done = 0; done < block->size();) {
    const auto got = ::pread(descriptor, block->bytes() + done, block->size() - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read " + file_->path().string() + (direct_.is_open() ? " past the page cache" : ""), errno);
    const bool is_partial_page = direct_.is_open() && got % static_cast<ssize_t>(page) != 0; // the end of the file
    if (is_partial_page || got == 0) break; // the file ends inside the last page; a record that is missing does not have its hash
    done += static_cast<std::uint64_t>(got);
  }
  return block;
}

} // namespace dt::data
