#include "jobs/machine/nvml.hpp"

#include "core/text.hpp"

#include <algorithm>
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
using Gpu = void*; // or a part of one
using Plain = int();
using Count = int(unsigned*);
using Handle = int(unsigned, Gpu*);
using Text = int(Gpu, char*, unsigned);
using Number = int(Gpu, unsigned*);
using LongNumber = int(Gpu, unsigned long long*);
using Clock = int(Gpu, int, unsigned*);
struct Rates {
  unsigned gpu, memory; // per cent
};
using Utilization = int(Gpu, Rates*);
struct Memory {
  unsigned long long total, free, used;
};
using MemoryInfo = int(Gpu, Memory*);
using Part = int(Gpu, unsigned, Gpu*);
// Activity (GPM): the counters are read into a sample; two samples give shares, in per cent.
using Sample = void*;
struct Support {
  unsigned version, is_supported;
};
struct Metric {
  unsigned id;
  int error;
  double value;
  std::array<const char*, 3> words;
};
struct Metrics {
  unsigned version, count;
  Sample first, second;
  std::array<Metric, 512> metrics; // more than any release has
};
using SupportOf = int(Gpu, Support*);
using NewSample = int(Sample*);
using FreeSample = int(Sample);
using TakeSample = int(Gpu, Sample);
using TakePartSample = int(Gpu, unsigned, Sample);
using MetricsOf = int(Metrics*);
constexpr unsigned gpm_version = 1;
// Numbers of nvmlGpmMetricId_t.
constexpr std::array activities{std::pair{2U, &GpuActivity::sm_busy}, std::pair{3U, &GpuActivity::occupancy},
                                std::pair{5U, &GpuActivity::tensor_busy}, std::pair{10U, &GpuActivity::memory_bandwidth}};
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
  if (auto* release = library_ == nullptr ? nullptr : find<FreeSample>("nvmlGpmSampleFree"))
    for (const auto& device : devices_)
      for (auto* sample : {device.last_sample, device.next_sample})
        if (sample != nullptr) release(sample);
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
    void* device = nullptr;
    if (handle_of(i, &device) == 0) add(device, static_cast<int>(i));
  }
  if (devices_.empty()) why_ = "NVML sees no GPU";
}

void Nvml::add(void* gpu, int index)
{
  devices_.push_back({.handle = gpu, .index = index, .whole = gpu});
  auto* most = find<Number>("nvmlDeviceGetMaxMigDeviceCount");
  auto* part_of = find<Part>("nvmlDeviceGetMigDeviceHandleByIndex");
  auto* number_of = find<Number>("nvmlDeviceGetGpuInstanceId");
  unsigned parts = 0;
  if (most == nullptr || part_of == nullptr || number_of == nullptr || most(gpu, &parts) != 0) parts = 0;
  for (unsigned i = 0; i < parts; ++i) {
    Device part{.index = index, .whole = gpu};
    if (part_of(gpu, i, &part.handle) == 0 && number_of(part.handle, &part.part) == 0) devices_.push_back(part);
  }
  for (auto& device : devices_)
    if (device.whole == gpu) add_samples(device);
}

void Nvml::add_samples(Device& device) const
{
  auto* support_of = find<SupportOf>("nvmlGpmQueryDeviceSupport");
  auto* make = find<NewSample>("nvmlGpmSampleAlloc");
  Support support{gpm_version, 0};
  if (support_of == nullptr || make == nullptr || find<MetricsOf>("nvmlGpmMetricsGet") == nullptr) return;
  if (support_of(device.whole, &support) != 0 || support.is_supported == 0) return;
  if (make(&device.last_sample) != 0) device.last_sample = nullptr;
  if (make(&device.next_sample) != 0) device.next_sample = nullptr;
}

std::string Nvml::id(std::size_t gpu) const
{
  std::array<char, 96> text{};
  auto* ask = find<Text>("nvmlDeviceGetUUID");
  return ask != nullptr && ask(devices_[gpu].handle, text.data(), static_cast<unsigned>(text.size())) == 0
             ? printable(text.data())
             : "";
}

std::string Nvml::name(std::size_t gpu) const
{
  std::array<char, 96> text{};
  auto* ask = find<Text>("nvmlDeviceGetName");
  const bool knows = ask != nullptr && ask(devices_[gpu].handle, text.data(), static_cast<unsigned>(text.size())) == 0;
  return knows ? printable(text.data()) : "GPU";
}

GpuLook Nvml::look(std::size_t gpu) const
{
  auto* device = devices_[gpu].handle;
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

bool Nvml::take_sample(const Device& device) const
{
  if (device.last_sample == nullptr || device.next_sample == nullptr) return false;
  if (device.handle == device.whole) {
    auto* take = find<TakeSample>("nvmlGpmSampleGet");
    return take != nullptr && take(device.whole, device.next_sample) == 0;
  }
  auto* take = find<TakePartSample>("nvmlGpmMigSampleGet");
  return take != nullptr && take(device.whole, device.part, device.next_sample) == 0;
}

GpuActivity Nvml::activity(std::size_t gpu)
{
  auto& device = devices_[gpu];
  GpuActivity activity;
  if (!take_sample(device)) return activity;
  std::swap(device.last_sample, device.next_sample);
  if (!std::exchange(device.has_sample, true)) return activity;
  Metrics metrics{gpm_version, activities.size(), device.next_sample, device.last_sample, {}};
  for (std::size_t i = 0; i < activities.size(); ++i) metrics.metrics[i].id = activities[i].first;
  if (find<MetricsOf>("nvmlGpmMetricsGet")(&metrics) != 0) return activity;
  for (std::size_t i = 0; i < activities.size(); ++i)
    if (metrics.metrics[i].error == 0) activity.*activities[i].second = 1e-2 * metrics.metrics[i].value;
  return activity;
}

double Nvml::joules(std::size_t gpu) const
{
  unsigned long long millijoules = 0;
  auto* ask = find<LongNumber>("nvmlDeviceGetTotalEnergyConsumption");
  return ask != nullptr && ask(devices_[gpu].handle, &millijoules) == 0 ? 1e-3 * static_cast<double>(millijoules) : unknown;
}

} // namespace dt::jobs
