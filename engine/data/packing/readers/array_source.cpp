#include "engine/data/packing/readers/array_source.hpp"

#include "core/text.hpp"
#include "engine/data/packing/readers/labels.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

class ArraySource final : public SourceReader {
 public:
  ArraySource(std::unique_ptr<ArrayFile> file, const SourceOptions& options, std::string_view kind) : file_(std::move(file))
  {
    pairs_ = find_pairs(file_->arrays(), options);
    for (const auto& pair : pairs_) require_same(layout_of(pair, options), pair, options);
    listing_.description = fmt::format("{} {}", kind, last_name(options.path));
    listing_.height = layout_.height, listing_.width = layout_.width, listing_.channels = layout_.channels;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto part = file_->read_integers(pairs_[i].labels);
      labels.insert(labels.end(), part.begin(), part.end());
      for (std::int64_t row = 0; row < pairs_[i].images.shape[0]; ++row)
        listing_.items.push_back({fmt::format("{}[{}]", pairs_[i].images.name, row), 0, i == 1, false, 0});
    }
    listing_.classes = label_items(listing_.items, labels);
    if (auto remark = unused_arrays(file_->arrays(), pairs_); !remark.empty()) listing_.remarks.push_back(std::move(remark));
    SourceStamp stamp;
    stamp.add(options.path);
    stamp.store(listing_);
  }

  void read(SampleRange items, const ItemVisitor& visit) override
  {
    std::int64_t first = 0; // item of the pair's first row
    for (const auto& pair : pairs_) {
      const auto rows = pair.images.shape[0];
      const SampleRange part{std::max(items.begin - first, std::int64_t{0}), std::min(items.end - first, rows)};
      if (part.begin < part.end) read_rows(pair.images, part, first, visit);
      first += rows;
    }
  }

 private:
  void require_same(const ArrayLayout& layout, const ArrayPair& pair, const SourceOptions& options)
  {
    if (layout_.channels == 0) layout_ = layout;
    if (layout.height == layout_.height && layout.width == layout_.width && layout.channels == layout_.channels) {
      channels_first_.push_back(layout.channels_first);
      return;
    }
    throw source_error(options.path,
                       fmt::format("the images of {} are {}x{}x{} (height x width x channels), those of {} {}x{}x{}. "
                                   "Both sets need images of the same size.",
                                   printable(pairs_.front().images.name), layout_.height, layout_.width, layout_.channels,
                                   printable(pair.images.name), layout.height, layout.width, layout.channels));
  }

  void read_rows(const ArrayInfo& images, SampleRange rows, std::int64_t first, const ItemVisitor& visit)
  {
    constexpr std::int64_t block_bytes = std::int64_t{4} << 20;
    const auto row_bytes = static_cast<std::int64_t>(images.row_bytes());
    const auto block = std::max(std::int64_t{1}, block_bytes / row_bytes);
    const bool channels_first = channels_first_[&images == &pairs_.front().images ? 0 : 1];
    for (auto begin = rows.begin; begin < rows.end; begin += block) {
      const auto count = std::min(block, rows.end - begin);
      file_->read_rows(images, begin, count, block_);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row =
            std::string_view(block_).substr(static_cast<std::size_t>(i * row_bytes), static_cast<std::size_t>(row_bytes));
        visit(first + begin + i, channels_first ? with_channels_last(row) : row, "");
      }
    }
  }

  std::string_view with_channels_last(std::string_view row)
  {
    const auto plane = static_cast<std::size_t>(layout_.height * layout_.width),
               channels = static_cast<std::size_t>(layout_.channels);
    turned_.resize(row.size());
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < plane; ++i) turned_[i * channels + c] = row[c * plane + i];
    return turned_;
  }

  std::unique_ptr<ArrayFile> file_;
  std::vector<ArrayPair> pairs_; // training set, test set
  ArrayLayout layout_;
  std::vector<bool> channels_first_; // by pair
  std::string block_, turned_;
};

} // namespace

std::unique_ptr<SourceReader> make_array_source(std::unique_ptr<ArrayFile> file, const SourceOptions& options,
                                                std::string_view kind)
{
  return std::make_unique<ArraySource>(std::move(file), options, kind);
}

} // namespace dt::data
