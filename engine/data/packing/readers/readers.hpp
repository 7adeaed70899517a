// The readers of `dtctl data pack`, one file each. A new reader needs a function here and a row in recognise.cpp.
#pragma once

#include "engine/data/packing/readers/source_reader.hpp"

namespace dt::data {

// A folder with a sub-folder of image files for each class, perhaps below train/ and test/.
std::unique_ptr<SourceReader> read_class_folders(const SourceOptions& options);
// Tar files in the form of WebDataset: members KEY.jpg (jpeg, png, webp) and KEY.cls with the label.
std::unique_ptr<SourceReader> read_tar_shards(const SourceOptions& options);
// Arrays of images and labels in an HDF5 file.
std::unique_ptr<SourceReader> read_hdf5_arrays(const SourceOptions& options);
// Arrays of images and labels in an archive of NumPy.
std::unique_ptr<SourceReader> read_npz_arrays(const SourceOptions& options);
// MNIST's four files.
std::unique_ptr<SourceReader> read_idx_folder(const SourceOptions& options);
// The binary files of CIFAR-10 and CIFAR-100.
std::unique_ptr<SourceReader> read_cifar10_folder(const SourceOptions& options);
std::unique_ptr<SourceReader> read_cifar100_folder(const SourceOptions& options);

} // namespace dt::data
