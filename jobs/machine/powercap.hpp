// Powercap: the energy counters of this machine's processors (RAPL), as the kernel's powercap interface gives them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

class Powercap {
 public:
  // `folder`: $DTCTL_POWERCAP, else /sys/class/powercap.
  explicit Powercap(std::filesystem::path folder = default_folder());
  static std::filesystem::path default_folder();

  // Why there is no counter; empty if there is one.
  const std::string& why() const { return why_; }
  // "package-0, dram"
  std::string domains() const;
  // Joules that all counters have counted since the first call; 0 at the first. Counters begin again at 0, after as little as a
  // quarter of an hour, so this must be called more often. NaN if a counter cannot be read.
  double joules();

 private:
  struct Domain {
    std::filesystem::path file;
    std::string name;
    std::uint64_t range_uj = 0; // largest value of the counter
    std::optional<std::uint64_t> last_uj{};
    double joules = 0;
  };
  void add(const std::filesystem::path& folder, bool is_package);

  std::vector<Domain> domains_;
  std::string why_;
};

} // namespace dt::jobs
