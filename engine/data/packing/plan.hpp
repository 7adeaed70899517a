// PackPlan: what the file of a packed set will look like, as far as it is known before its images are decoded.
#pragma once

#include "engine/data/images/channels.hpp"
#include "engine/data/packing/pack.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::data {

struct PackPlan {
  PackedEncoding encoding = PackedEncoding::pixels;
  std::int64_t channels = 0;
  bool converts_channels = false;     // images with another number of channels are converted instead of refused
  std::int64_t height = 0, width = 0; // of the records; 0 for JPEG files
  bool resizes = false;
  ColourRules colours;
  std::string first_name; // the image that decided size and channels
  StoredOrder order;
  std::vector<std::uint64_t> begins; // by item: where its record begins in the file
  std::vector<bool> is_train;        // by item
  std::uint64_t records_end = 0;
  std::vector<SampleRange> parts; // of the items; each is read, decoded and stored as one piece of work
  std::string options;            // the options that change the content, as words of the command line

  std::uint64_t record_bytes(const SourceItem& item) const
  {
    return encoding == PackedEncoding::jpeg ? item.bytes : static_cast<std::uint64_t>(height * width * channels);
  }
};

// Decides the encoding, size and number of channels; for image files it decodes the first one. Throws a usage error if the
// options contradict each other or the source.
PackPlan plan_pack(const PackOptions& options, SourceReader& source);

} // namespace dt::data
