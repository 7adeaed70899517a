// Nvml: NVIDIA's management library, loaded when it is there. Nothing of it is needed to build dtctl.
#pragma once

#include "core/record/run_record.hpp"

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
  // The functions below take the number of a GPU or of a part: all GPUs in order, each followed by its parts if it is divided
  // (MIG).
  std::size_t size() const { return devices_.size(); }
  int index(std::size_t gpu) const { return devices_[gpu].index; } // of a part: of its GPU
  std::string id(std::size_t gpu) const;
  std::string name(std::size_t gpu) const;
  // A few microseconds.
  GpuLook look(std::size_t gpu) const;
  // The GPU's energy counter in joules; NaN if it has none. Takes milliseconds, and moves ten times a second.
  double joules(std::size_t gpu) const;
  // The mean since the last call for this GPU, which should be a tenth of a second ago or more. NaN at the first call, and where
  // the GPU does not count it (GPM, from Hopper on).
  GpuActivity activity(std::size_t gpu);

 private:
  struct Device {
    void* handle = nullptr;
    int index = 0;
    void* whole = nullptr; // the GPU itself
    unsigned part = 0;     // number of the part (its GPU instance), if `handle` is not the GPU itself
    void *last_sample = nullptr, *next_sample = nullptr; // of its counters of activity; null: it has none
    bool has_sample = false;
  };
  template<class Function> Function* find(const char* name) const;
  void open();
  void add(void* gpu, int index);
  void add_samples(Device& device) const;
  bool take_sample(const Device& device) const;

  void* library_ = nullptr;
  bool is_up_ = false;
  std::vector<Device> devices_;
  std::string why_;
};

} // namespace dt::jobs
