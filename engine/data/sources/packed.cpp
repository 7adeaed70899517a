// Sources of packed sets (core/data/packed_file.hpp): records are read in blocks or one by one, and decoded when they are needed.
#include "core/data/packed_file.hpp"

#include "core/error.hpp"
#include "engine/data/images/jpeg.hpp"
#include "engine/data/images/preparation.hpp"
#include "engine/data/out_of_memory.hpp"
#include "engine/data/sources/block_reader.hpp"
#include "engine/data/sources/byte_source.hpp"
#include "engine/data/sources/data_sets.hpp"
#include "engine/data/sources/scratch_pool.hpp"

#include <cmath>
#include <new>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// What a thread needs to decode a record.
struct DecodingScratch {
  JpegDecoder decoder;
  Image image, resized;
  std::string bytes;
};

std::vector<ChannelScale> scales_of(const PackedDescription& set)
{
  std::vector<ChannelScale> scales;
  for (std::size_t c = 0; c < set.mean.size(); ++c) {
    const auto deviation = set.deviation[c] > 0 ? set.deviation[c] : 1; // a channel without contrast
    scales.push_back({static_cast<float>(set.mean[c]), static_cast<float>(deviation)});
  }
  return scales;
}

// The samples of one split: records [records.begin, records.end) of the file.
class PackedSource final : public Source {
 public:
  PackedSource(std::shared_ptr<const PackedFile> file, std::shared_ptr<const BlockReader> reader, SampleRange records,
               Preparation preparation, CorruptSamples corrupt)
      : file_(std::move(file)), reader_(std::move(reader)), records_(records), preparation_(std::move(preparation)),
        corrupt_(corrupt)
  {
  }

  std::int64_t size() const override { return records_.size(); }
  std::int64_t channels() const override { return preparation_.channels(); }
  std::int64_t height() const override { return preparation_.height(); }
  std::int64_t width() const override { return preparation_.width(); }
  std::int64_t classes() const override { return static_cast<std::int64_t>(file_->description().classes.size()); }
  bool has_blocks() const override { return true; }

  std::int64_t bytes_per_sample() const override
  {
    const auto &first = file_->entry(records_.begin), &last = file_->entry(records_.end - 1);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(last.begin + last.bytes - first.begin) / size());
  }

  std::shared_ptr<const Block> fetch(SampleRange samples) const override
  {
    return reader_->read({records_.begin + samples.begin, records_.begin + samples.end});
  }

  SampleRead read(const SampleRequest& request, float* image) const override
  {
    const auto scratch = lease(request.index);
    const auto* block = static_cast<const RecordBlock*>(request.block);
    auto record = records_.begin + request.index;
    for (std::int64_t tries = 1;; ++tries) {
      const auto fault = fault_of(record, block, request, *scratch, image);
      if (fault.empty()) return {static_cast<std::int32_t>(file_->entry(record).label), tries > 1};
      if (corrupt_ == CorruptSamples::refuse || tries == size()) refuse(record, fault);
      block = nullptr; // the next record may lie in another block
      record = record + 1 < records_.end ? record + 1 : records_.begin;
    }
  }

 private:
  // Returns what is wrong with the record, or nothing. An exception that is no Error says nothing about the record itself, so
  // data.corrupt: skip does not hide it.
  std::string fault_of(std::int64_t record, const RecordBlock* block, const SampleRequest& request, DecodingScratch& scratch,
                       float* floats) const
  {
    const auto place = [&] { return fmt::format("packed set {}: record {}", file_->path().string(), record); };
    try {
      return read_record(record, block, request, scratch, floats);
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw out_of_memory(place());
    } catch (const std::exception& error) {
      throw Error(ErrorKind::internal, fmt::format("{}: {}", place(), error.what()));
    }
  }

  // Returns what is wrong with the record, or nothing.
  std::string read_record(std::int64_t record, const RecordBlock* block, const SampleRequest& request, DecodingScratch& scratch,
                          float* floats) const
  {
    if (block == nullptr) file_->read(record, scratch.bytes);
    const auto bytes = block != nullptr ? block->bytes_of(file_->entry(record)) : std::string_view(scratch.bytes);
    if (!file_->is_intact(record, bytes)) return "its bytes have changed since the set was packed";
    try {
      const auto place = decode(bytes, request, scratch);
      preparation_.write(scratch.image, place, request, scratch.resized, floats);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  // Decodes the part of the image that is used. Returns its place in scratch.image.
  Rectangle decode(std::string_view bytes, const SampleRequest& request, DecodingScratch& scratch) const
  {
    auto& image = scratch.image;
    const auto& set = file_->description();
    if (set.encoding == PackedEncoding::pixels) {
      image.reshape(set.height, set.width, set.channels);
      if (bytes.size() != image.pixels.size()) throw Error(ErrorKind::recipe, "its bytes are not as many as its pixels");
      std::copy(bytes.begin(), bytes.end(), image.pixels.begin());
      return preparation_.part(set.height, set.width, request);
    }
    scratch.decoder.read_header(bytes, image);
    const auto part = preparation_.part(image.height, image.width, request);
    return scratch.decoder.decode_part(bytes, channels(), part, height(), width(), image);
  }

  ScratchPool<DecodingScratch>::Lease lease(std::int64_t sample) const
  {
    try {
      return scratch_.lease();
    } catch (const std::bad_alloc&) {
      throw out_of_memory(fmt::format("packed set {}: record {}", file_->path().string(), records_.begin + sample));
    }
  }

  [[noreturn]] void refuse(std::int64_t record, const std::string& fault) const
  {
    throw Error(ErrorKind::run, fmt::format("packed set {}: record {} ({}): {}. `dtctl data check` finds all such records; with "
                                            "data.corrupt: skip the run takes the next sample instead.",
                                            file_->path().string(), record, file_->name(record), fault));
  }

  std::shared_ptr<const PackedFile> file_;
  std::shared_ptr<const BlockReader> reader_;
  SampleRange records_;
  Preparation preparation_;
  CorruptSamples corrupt_;
  mutable ScratchPool<DecodingScratch> scratch_;
};

// Throws a recipe error if the set cannot be used as the recipe says.
void check(const PackedFile& file, const DataSpec& spec)
{
  const auto& set = file.description();
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::recipe, fmt::format("packed set {}: {}", file.path().string(), why));
  };
  if (set.test_samples == 0)
    refuse("it has no test images. Pack it again with --test-fraction, or with a folder of test images.");
  if (spec.image_size == 0 && set.height == 0)
    refuse(fmt::format("its images have sides of {} to {} pixels, but the network needs one size. Set data.image_size.",
                       set.min_side, set.max_side));
}

} // namespace

Sources open_packed(const DataSpec& spec, const fs::path& place, std::int64_t)
{
  const auto file = std::make_shared<const PackedFile>(place);
  check(*file, spec);
  (void)file->entries(); // reads the index now, so that a set without a readable index fails here and not in a thread
  const auto& set = file->description();
  require_samples(spec, place, {set.train_samples, set.test_samples});
  const auto train = spec.train_samples > 0 ? spec.train_samples : set.train_samples,
             test = spec.test_samples > 0 ? spec.test_samples : set.test_samples;
  const auto reader = std::make_shared<const BlockReader>(file, spec.direct_io);
  const auto sides = sides_of(spec, set.height, set.width);
  const Preparation preparation(sides.height, sides.width, scales_of(set), spec);
  const auto source = [&](SampleRange records) {
    return std::make_unique<PackedSource>(file, reader, records, preparation, spec.corrupt);
  };
  return {source({0, train}), source({set.train_samples, set.train_samples + test})};
}

} // namespace dt::data
