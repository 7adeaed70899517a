#include "jobs/machine/nvml.hpp"

#include "core/text.hpp"

#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include <dlfcn.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Types of nvml.h, whose layout is part of its binary interface. Every function returns 0 for success.
using Device = void*;
using Plain = int();
using Count = int(unsigned*);
using Handle = int(unsigned, Device*);
using Text = int(Device, char*, unsigned);
using Number = int(Device, unsigned*);
using LongNumber = int(Device, unsigned long long*);
using Clock = int(Device, int, unsigned*);
struct Rates {
  unsigned gpu, memory; // per cent
};
using Utilization = int(Device, Rates*);
struct Memory {
  unsigned long long total, free, used;
};
using MemoryInfo = int(Device, Memory*);
constexpr int multiprocessors = 1; // NVML_CLOCK_SM

// The bits of nvmlClocksEventReasons that are no choice of the user and not idleness.
constexpr std::array reasons{std::pair{0x04U, "its power limit"},         std::pair{0x08U, "a slowdown by the hardware"},
                             std::pair{0x10U, "other GPUs of its group"}, std::pair{0x20U, "its temperature"},
                             std::pair{0x40U, "too high a temperature"},  std::pair{0x80U, "the power supply"}};

// The library that answers; where the user names one, only that.
std::string library_name()
{
  const char* other = std::getenv("DTCTL_NVML");
  return other != nullptr && *other != '\0' ? other : "libnvidia-ml.so.1";
}

} // namespace

template<class Function> Function* Nvml::find(const char* name) const
{
  return reinterpret_cast<Function*>(::dlsym(library_, name));
}

Nvml::Nvml() { open(); }

Nvml::~Nvml()
{
  if (is_up_)
    if (auto* shutdown = find<Plain>("nvmlShutdown")) shutdown();
  if (library_ != nullptr) ::dlclose(library_);
}

void Nvml::open()
{
  const auto name = library_name();
  library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    why_ = "no NVML: " + name + " cannot be loaded";
    return;
  }
  auto* init = find<Plain>("nvmlInit_v2");
  auto* count_of = find<Count>("nvmlDeviceGetCount_v2");
  auto* handle_of = find<Handle>("nvmlDeviceGetHandleByIndex_v2");
  if (init == nullptr || count_of == nullptr || handle_of == nullptr) {
    why_ = "no NVML: " + name + " lacks its functions";
    return;
  }
  const int error = init();
  is_up_ = error == 0;
  unsigned count = 0;
  if (!is_up_ || count_of(&count) != 0) {
    why_ = fmt::format("NVML does not answer (error {})", error);
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (handle_of(i, &device) == 0) devices_.push_back(device);
  }
  if (devices_.empty()) why_ = "NVML sees no GPU";
}

std::string Nvml::id(std::size_t gpu) const
{
  std::array<char, 96> text{};
  auto* ask = find<Text>("nvmlDeviceGetUUID");
  return ask != nullptr && ask(devices_[gpu], text.data(), static_cast<unsigned>(text.size())) == 0 ? printable(text.data()) : "";
}

std::string Nvml::name(std::size_t gpu) const
{
  std::array<char, 96> text{};
  auto* ask = find<Text>("nvmlDeviceGetName");
  const bool knows = ask != nullptr && ask(devices_[gpu], text.data(), static_cast<unsigned>(text.size())) == 0;
  return knows ? printable(text.data()) : "GPU";
}

GpuLook Nvml::look(std::size_t gpu) const
{
  auto* device = devices_[gpu];
  GpuLook look{unknown, unknown, unknown, unknown, {}};
  unsigned number = 0;
  unsigned long long bits = 0;
  Rates rates{};
  Memory memory{};
  if (auto* ask = find<Number>("nvmlDeviceGetPowerUsage"); ask != nullptr && ask(device, &number) == 0)
    look.power_w = 1e-3 * number;
  if (auto* ask = find<Utilization>("nvmlDeviceGetUtilizationRates"); ask != nullptr && ask(device, &rates) == 0)
    look.busy = 1e-2 * rates.gpu;
  if (auto* ask = find<MemoryInfo>("nvmlDeviceGetMemoryInfo"); ask != nullptr && ask(device, &memory) == 0)
    look.memory_bytes = static_cast<double>(memory.used);
  if (auto* ask = find<Clock>("nvmlDeviceGetClockInfo"); ask != nullptr && ask(device, multiprocessors, &number) == 0)
    look.clock_mhz = number;
  auto* ask_reasons = find<LongNumber>("nvmlDeviceGetCurrentClocksEventReasons");
  if (ask_reasons == nullptr) ask_reasons = find<LongNumber>("nvmlDeviceGetCurrentClocksThrottleReasons"); // before driver 535
  if (ask_reasons != nullptr && ask_reasons(device, &bits) == 0)
    for (const auto& [bit, words] : reasons)
      if ((bits & bit) != 0) look.held_back.emplace_back(words);
  return look;
}

double Nvml::joules(std::size_t gpu) const
{
  unsigned long long millijoules = 0;
  auto* ask = find<LongNumber>("nvmlDeviceGetTotalEnergyConsumption");
  return ask != nullptr && ask(devices_[gpu], &millijoules) == 0 ? 1e-3 * static_cast<double>(millijoules) : unknown;
}

} // namespace dt::jobs
