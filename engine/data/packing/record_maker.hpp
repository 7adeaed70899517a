// RecordMaker: turns an image of the source into the record that is stored.
#pragma once

#include "engine/data/images/decoder.hpp"
#include "engine/data/packing/plan.hpp"

#include <string_view>

namespace dt::data {

// Makes one record after another; each thread needs its own.
class RecordMaker {
 public:
  RecordMaker(const PackPlan& plan, const SourceListing& listing) : plan_(plan), listing_(listing), decoder_(plan.colours) {}
  // Returns the record, valid until the next call. Afterwards image() holds the pixels. Throws a recipe error with the cause if
  // the bytes are not an image that can be decoded; a usage error that names the item if it does not fit the set.
  std::string_view make(std::int64_t item, std::string_view bytes);
  // The stored image, decoded.
  const Image& image() const { return image_; }
  // What its file held; nothing for a row of an array.
  const DecodedFacts& facts() const { return decoder_.facts(); }

 private:
  void decode(std::string_view bytes);
  void require_channels(const SourceItem& item) const;
  void require_size(const SourceItem& item) const;
  void resize_image();

  const PackPlan& plan_;
  const SourceListing& listing_;
  ImageDecoder decoder_;
  Image image_, resized_;
};

// The largest part in the centre of a height x width image that has the aspect ratio of new_height x new_width.
Rectangle centre_crop(std::int64_t height, std::int64_t width, std::int64_t new_height, std::int64_t new_width);

} // namespace dt::data
