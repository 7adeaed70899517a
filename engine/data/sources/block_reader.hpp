// BlockReader: reads consecutive records of a packed set at once.
#pragma once

#include "core/data/packed_file.hpp"
#include "engine/data/source.hpp"

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace dt::data {

// Memory for blocks, kept for the next block. It comes from mmap: what malloc cuts into heaps per thread would grow with every
// epoch, because blocks are freed by other threads than those that allocate them. May be used from several threads.
class BlockMemory {
 public:
  struct Piece {
    char* begin = nullptr; // aligned to a page, as O_DIRECT needs it
    std::uint64_t bytes = 0;
  };
  BlockMemory() = default;
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;
  ~BlockMemory();
  // At least so many bytes.
  Piece take(std::uint64_t bytes);
  void give_back(Piece piece);

 private:
  std::mutex mutex_;
  std::vector<Piece> free_;
};

// The bytes of consecutive records.
class RecordBlock final : public Block {
 public:
  // Memory for the file's bytes [begin, begin + bytes).
  RecordBlock(std::shared_ptr<BlockMemory> memory, std::uint64_t begin, std::uint64_t bytes);
  ~RecordBlock() override;
  RecordBlock(const RecordBlock&) = delete;
  RecordBlock& operator=(const RecordBlock&) = delete;
  // The bytes of a record; fewer if they do not lie in the block.
  std::string_view bytes_of(const PackedEntry& entry) const;
  std::uint64_t begin() const { return begin_; }
  std::uint64_t size() const { return size_; }
  char* bytes() { return piece_.begin; }

 private:
  std::shared_ptr<BlockMemory> memory_;
  std::uint64_t begin_, size_;
  BlockMemory::Piece piece_;
};

// May be used from several threads.
class BlockReader {
 public:
  // is_direct: read past the page cache. Throws a recipe error if the file system does not allow it.
  BlockReader(std::shared_ptr<const PackedFile> file, bool is_direct);
  // Throws an environment error if the file cannot be read or if there is no memory for the block.
  std::shared_ptr<const RecordBlock> read(SampleRange records) const;

 private:
  std::shared_ptr<const RecordBlock> read_block(SampleRange records) const;

  std::shared_ptr<const PackedFile> file_;
  std::shared_ptr<BlockMemory> memory_ = std::make_shared<BlockMemory>();
  Descriptor direct_;
};

} // namespace dt::data
