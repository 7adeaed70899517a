#include "engine/data/packing/part_pool.hpp"

#include "core/error.hpp"
#include "core/hash.hpp"
#include "engine/data/out_of_memory.hpp"
#include "engine/data/packing/readers/source_files.hpp"
#include "engine/data/packing/record_maker.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <thread>

#include <fmt/format.h>

namespace dt::data {
namespace {

// Image files that were read while other threads wait for their turn.
struct ReadItem {
  std::int64_t item;
  std::string bytes, trouble;
};

class Run {
 public:
  Run(PartPool& pool, const std::vector<std::int64_t>& parts) : pool_(pool), parts_(parts) {}

  void work()
  {
    try {
      RecordMaker maker(pool_.plan, pool_.source.listing());
      pack_parts(maker);
    } catch (...) { // the memory for the decoders, for example
      fail(0);
    }
  }

  void rethrow() const
  {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void pack_parts(RecordMaker& maker)
  {
    std::vector<ReadItem> read;
    for (std::size_t turn; (turn = take(read)) < parts_.size();) try {
        auto result = pack(parts_[turn], read, maker);
        if (turn > last_turn_) return;
        const std::lock_guard lock(finishing_);
        pool_.finish(std::move(result));
      } catch (...) {
        fail(turn);
      }
  }

  // Takes the next part; of a source that threads must read in turns, reads it too. Returns its position in parts_.
  std::size_t take(std::vector<ReadItem>& read)
  {
    const std::lock_guard lock(taking_);
    const auto turn = next_turn_++;
    if (turn >= parts_.size() || turn > last_turn_) return parts_.size();
    read.clear();
    if (pool_.source.is_concurrent()) return turn;
    try {
      pool_.source.read(range_of(parts_[turn]), [&](std::int64_t item, std::string_view bytes, std::string_view trouble) {
        read.push_back({item, std::string(bytes), std::string(trouble)});
      });
    } catch (...) {
      fail(turn);
      return parts_.size();
    }
    return turn;
  }

  const SampleRange& range_of(std::int64_t part) const { return pool_.plan.parts[static_cast<std::size_t>(part)]; }

  PartResult pack(std::int64_t part, const std::vector<ReadItem>& read, RecordMaker& maker)
  {
    const auto range = range_of(part);
    PartResult result;
    result.part = part;
    result.hashes.resize(static_cast<std::size_t>(range.size()));
    auto expected = range.begin;
    const auto visit = [&](std::int64_t item, std::string_view bytes, std::string_view trouble) {
      if (item != expected++)
        throw Error(ErrorKind::internal, "The source's images were read in another order than they were listed.");
      if (trouble.empty())
        pack_item(item, bytes, maker, range, result);
      else
        result.corrupt.push_back({item, std::string(trouble)});
    };
    if (pool_.source.is_concurrent())
      pool_.source.read(range, visit);
    else
      for (const auto& [item, bytes, trouble] : read) visit(item, bytes, trouble);
    if (expected != range.end) throw Error(ErrorKind::internal, "The source's images were not all read.");
    return result;
  }

  void pack_item(std::int64_t item, std::string_view bytes, RecordMaker& maker, SampleRange range, PartResult& result)
  {
    std::string_view record;
    try {
      record = maker.make(item, bytes);
    } catch (const std::bad_alloc&) {
      throw out_of_memory("decoding " + pool_.source.listing().items[static_cast<std::size_t>(item)].name);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::recipe) throw;
      result.corrupt.push_back({item, error.what()});
      return;
    }
    const auto& listed = pool_.source.listing().items[static_cast<std::size_t>(item)];
    if (const auto planned = pool_.plan.record_bytes(listed); record.size() != planned) // it would cover its neighbour
      throw source_error(listed.name,
                         fmt::format("the image has changed since it was listed: its record has {} bytes and not {}. "
                                     "Call dtctl data pack again when nothing writes into the source.",
                                     record.size(), planned));
    const auto& image = maker.image();
    result.sizes.add(image.height, image.width);
    result.facts.add(item, image, maker.facts());
    if (pool_.plan.is_train[static_cast<std::size_t>(item)]) result.sums.add(image);
    result.hashes[static_cast<std::size_t>(item - range.begin)] = hash64(record);
    pool_.write(pool_.plan.begins[static_cast<std::size_t>(item)], record);
  }

  // Parts before the failed one are still finished, because one of them may fail too, and its error comes first.
  void fail(std::size_t turn)
  {
    const std::lock_guard lock(failing_);
    if (turn >= last_turn_ && error_) return;
    last_turn_ = turn;
    error_ = std::current_exception();
  }

  PartPool& pool_;
  const std::vector<std::int64_t>& parts_;
  std::mutex taking_, finishing_, failing_;
  std::size_t next_turn_ = 0;
  std::atomic<std::size_t> last_turn_ = std::numeric_limits<std::size_t>::max(); // of parts whose results are wanted
  std::exception_ptr error_;
};

} // namespace

void PartPool::run(const std::vector<std::int64_t>& parts)
{
  Run run(*this, parts);
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back([&] { run.work(); });
  run.work();
  helpers.clear();
  run.rethrow();
}

} // namespace dt::data
