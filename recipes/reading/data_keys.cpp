#include "recipes/reading/data_keys.hpp"

#include <array>

namespace dt::recipes {
namespace {

bool is_made_in_memory(std::string_view data_set) { return data_set == "synthetic"; }
bool is_packed(std::string_view data_set) { return data_set == "packed"; }
bool is_read_from_files(std::string_view data_set) { return !is_made_in_memory(data_set); }

constexpr std::array keys{
    DataKey{"data.path", is_read_from_files, "is made in memory"},
    DataKey{"data.channels", is_made_in_memory, "has images of the shape that its files contain"},
    DataKey{"data.height", is_made_in_memory, "has images of the shape that its files contain"},
    DataKey{"data.width", is_made_in_memory, "has images of the shape that its files contain"},
    DataKey{"data.classes", is_made_in_memory, "has as many classes as its files contain"},
    DataKey{"data.set", is_packed, "is no packed set"},
    DataKey{"data.corrupt", is_packed, "is no packed set, whose samples are read during the training"},
    DataKey{"data.direct_io", is_packed, "is no packed set, whose samples are read during the training"},
    DataKey{"data.image_size", is_read_from_files, "has images of data.height x data.width"},
    DataKey{"data.crop", is_read_from_files, "has images of noise, which cropping does not change"},
    DataKey{"data.pad", is_read_from_files, "has images of noise, which cropping does not change"},
    DataKey{"data.flip", is_read_from_files, "has images of noise, which mirroring does not change"},
};

} // namespace

std::span<const DataKey> data_keys() { return keys; }

bool uses(std::string_view data_set, const DataKey& key) { return data_set.empty() || key.is_used_by(data_set); }

} // namespace dt::recipes
