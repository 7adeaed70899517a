// Which home a folder is: <home>/identity.json holds its id, its place and the number of its folder. A home that was moved is
// still itself; a copy of a home is not, because the runs that its records speak of are the original's.
#pragma once

#include "core/home/locked_home.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace dt {

// The place of the original if this home is a copy. Nothing if it is none, or if nobody has written its identity yet.
std::optional<std::filesystem::path> original_of(const Home& home);

// "/b is a copy of the home /a, …", and what to do. Empty if the home is no copy.
std::string words_about_copy(const Home& home);

// Writes the identity of a home that has none or was moved. Throws an environment error if it is a copy. The caller holds the
// lock of the home.
void establish_identity(const Home& home);

} // namespace dt
