// Nvml: NVIDIA's management library, loaded when it is there. Nothing of it is needed to build dtctl.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dt::jobs {

// What a GPU says of itself at one moment. NaN: it does not say.
struct GpuLook {
  double power_w, busy, memory_bytes, clock_mhz; // busy: share of about the last second in which a kernel ran
  std::vector<std::string> held_back;            // what keeps its clock down: "its power limit"
};

class Nvml {
 public:
  // Loads $DTCTL_NVML, else libnvidia-ml.so.1.
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Why there is no GPU; empty if there is one.
  const std::string& why() const { return why_; }
  std::size_t size() const { return devices_.size(); }
  std::string id(std::size_t gpu) const;
  std::string name(std::size_t gpu) const;
  // A few microseconds.
  GpuLook look(std::size_t gpu) const;
  // The GPU's energy counter in joules; NaN if it has none. Takes milliseconds, and moves ten times a second.
  double joules(std::size_t gpu) const;

 private:
  template<class Function> Function* find(const char* name) const;
  void open();

  void* library_ = nullptr;
  bool is_up_ = false;
  std::vector<void*> devices_;
  std::string why_;
};

} // namespace dt::jobs
