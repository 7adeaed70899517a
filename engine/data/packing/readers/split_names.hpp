// What the names of folders, arrays and tar files say about the split: the one rule for them.
#pragma once

#include <string>
#include <string_view>

namespace dt::data {

enum class Split { none, train, test, validation };

struct SplitName {
  Split split = Split::none;
  std::string rest; // the name in lower case without the word of the split, and without "set": "images" of "train_images"
};

// Reads "train", "Training", "TRAIN", "train_set", "trainset", "seg_train", "TrainImages", "val2017", "x_valid", "dev",
// "holdout": the name is cut into words at everything that is no letter and where capital letters begin, and the first word that
// names a split counts. Words of `rest` are joined by "_", groups of an array ("train/images") too.
SplitName read_split_name(std::string_view name);

} // namespace dt::data
