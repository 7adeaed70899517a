// SourceReader: the labelled images that `dtctl data pack` packs, in any of the formats that it reads.
#pragma once

#include "core/maths/range.hpp"

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dt::data {

// One image of a source.
struct SourceItem {
  std::string name;        // of its file or member: "train/cat/17.jpg"; of an array's row: "train_images[17]"
  std::uint32_t label = 0; // position in SourceListing::classes
  bool is_test = false;    // whether the source says that it belongs to the test set
  bool is_jpeg = false;    // according to its name
  std::uint64_t bytes = 0; // of the image file; 0 for a file that could not be looked at, and for rows of arrays
};

// Everything that is known about a source before its images are read.
struct SourceListing {
  std::string description;                          // kind and name: "folder flowers"
  std::vector<std::string> classes;                 // names, by label
  std::vector<SourceItem> items;                    // in the order in which they are read
  std::int64_t height = 0, width = 0, channels = 0; // of all rows, if the source is an array of pixels; 0: of image files
  std::string stamp;                                // hash of names, sizes, inodes and times of the source's files
  std::int64_t newest_ns = 0;                       // time of the newest of these files, since the epoch
  std::vector<std::string> remarks;                 // sentences about what was left out

  bool is_array() const { return channels != 0; }
  bool has_test() const;
};

// Receives an image: the bytes of its file, or its pixels (channels last). `trouble` is the cause if it could not be read; the
// bytes are then empty.
using ItemVisitor = std::function<void(std::int64_t item, std::string_view bytes, std::string_view trouble)>;

class SourceReader {
 public:
  virtual ~SourceReader() = default;
  const SourceListing& listing() const { return listing_; }
  // Whether several threads may call read() at the same time. If not, the threads must take turns, and ascending ranges are
  // fastest: for a range before the last one, the source is read again from its beginning.
  virtual bool is_concurrent() const { return false; }
  // Visits these items in ascending order. Throws an environment error if the source cannot be read, a usage error if it is
  // damaged or has changed since it was listed.
  virtual void read(SampleRange items, const ItemVisitor& visit) = 0;

 protected:
  SourceListing listing_;
};

// What the user says about a source.
struct SourceOptions {
  std::filesystem::path path;
  std::string format; // one of source_formats(); empty: the format is recognised
  // Names of the arrays in an HDF5 file or .npz archive; of tar members, their extensions. Empty: the usual ones.
  std::string images, labels;
  std::string layout;      // "nhwc" or "nchw": order of the dimensions of four-dimensional arrays; empty: recognised
  std::string test_folder; // folder: name of the sub-folder with the test set; empty: recognised
};

// Names of the formats: folder, tar, hdf5, npz, idx, cifar10, cifar100.
std::vector<std::string> source_formats();
// Lists the source's images. Throws a usage error that says what was found and what to do if the source has none of the formats
// or contradicts itself.
std::unique_ptr<SourceReader> open_source(const SourceOptions& options);

} // namespace dt::data
