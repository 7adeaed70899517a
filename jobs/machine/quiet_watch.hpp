// QuietWatch: whether anything computes on this machine, by the kernel's counters.
#pragma once

#include <cstdint>
#include <optional>

namespace dt::jobs {

class QuietWatch {
 public:
  // The cores that were busy, with the time that a hypervisor gave to others, as a mean over the last two to four seconds.
  // Nothing before it has been called for two seconds, and where the counters cannot be read. Reads /proc/stat, or
  // $DTCTL_PROC_STAT.
  std::optional<double> busy_cores();
  // Fewer busy cores than this are the noise of a machine on which nothing computes: half a core, or a fiftieth of all.
  double least_busy() const;

 private:
  struct Look {
    std::int64_t busy = 0, total = 0; // in ticks of the kernel, of all cores
    std::int64_t cores = 0;
  };
  static std::optional<Look> look();

  std::optional<Look> begin_;
  std::optional<double> busy_cores_;
  std::int64_t cores_ = 1;
};

} // namespace dt::jobs
