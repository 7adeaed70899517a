// A folder in place of /sys/class/powercap, whose counters a test moves.
#pragma once

#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::test {

class FakePowercap {
 public:
  std::filesystem::path folder() const { return folder_.path(); }
  void zone(const std::string& path, const std::string& name, std::uint64_t uj, std::uint64_t range_uj = 262'143'328'850) const
  {
    const auto place = folder() / path;
    std::filesystem::create_directories(place);
    replace_file(place / "name", name + "\n");
    replace_file(place / "max_energy_range_uj", std::to_string(range_uj) + "\n");
    set(path, uj);
  }
  // A reader sees the old value or the new one.
  void set(const std::string& path, std::uint64_t uj) const
  {
    replace_file(folder() / path / "energy_uj", std::to_string(uj) + "\n");
  }

 private:
  TemporaryFolder folder_;
};

} // namespace dt::test
