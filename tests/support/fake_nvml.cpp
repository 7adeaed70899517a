// Two GPUs that answer NVML's calls with known figures: 100 W, by the energy counter and by the power, half of the time busy, 2
// GiB in use, 1,200 MHz, held back by the power limit; 40 % of the multiprocessors, 30 % of the warps and 20 % of the bandwidth
// are in use, and the tensor cores are not counted. Loaded by the path in DTCTL_NVML. With FAKE_NVML_NO_COUNTER there is no
// energy counter. With FAKE_NVML_PARTS the second GPU is divided: its only part, of instance 7, is half as active.
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

int gpus[2], part;
constexpr int unsupported = 3, not_found = 6;

int number_of(const void* device) { return device == &gpus[0] ? 0 : 1; }

// Activity, as nvml.h lays it out.
struct FakeSample {
  double scale; // of the shares
  int number;   // 1: the first that was taken
};
struct FakeMetric {
  unsigned id;
  int error;
  double value;
  const char* words[3];
};
struct FakeMetrics {
  unsigned version, count;
  FakeSample *first, *second;
  FakeMetric metrics[];
};
int samples_taken = 0;

} // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetCount_v2(unsigned* count)
{
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device)
{
  *device = &gpus[index];
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned length)
{
  if (device == &part)
    std::snprintf(text, length, "MIG-fake");
  else
    std::snprintf(text, length, "GPU-fake-%d", number_of(device));
  return 0;
}

int nvmlDeviceGetName(void*, char* text, unsigned length)
{
  std::snprintf(text, length, "Fake 100");
  return 0;
}

// 100 W are 100 mJ in a millisecond.
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules)
{
  if (device == &part) return unsupported;
  if (std::getenv("FAKE_NVML_NO_COUNTER") != nullptr) return 3;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto milliseconds =
      static_cast<unsigned long long>(now.tv_sec) * 1000 + static_cast<unsigned long long>(now.tv_nsec) / 1000000;
  *millijoules = milliseconds * 100;
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts)
{
  if (device == &part) return unsupported;
  *milliwatts = 100000;
  return 0;
}

int nvmlDeviceGetUtilizationRates(void*, unsigned* rates)
{
  rates[0] = 50;
  rates[1] = 10;
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory)
{
  memory[0] = 80ULL << 30;
  memory[1] = 78ULL << 30;
  memory[2] = 2ULL << 30;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count)
{
  *count = number_of(device) == 1 && std::getenv("FAKE_NVML_PARTS") != nullptr ? 3 : 0;
  return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** device)
{
  *device = &part;
  return index == 1 ? 0 : not_found;
}

int nvmlDeviceGetGpuInstanceId(void* device, unsigned* instance)
{
  *instance = 7;
  return device == &part ? 0 : unsupported;
}

int nvmlGpmQueryDeviceSupport(void*, unsigned* support)
{
  support[1] = 1;
  return support[0] == 1 ? 0 : unsupported;
}

int nvmlGpmSampleAlloc(FakeSample** sample)
{
  *sample = new FakeSample{};
  return 0;
}

int nvmlGpmSampleFree(FakeSample* sample)
{
  delete sample;
  return 0;
}

int nvmlGpmSampleGet(void*, FakeSample* sample)
{
  *sample = {1, ++samples_taken};
  return 0;
}

int nvmlGpmMigSampleGet(void* device, unsigned instance, FakeSample* sample)
{
  *sample = {0.5, ++samples_taken};
  return number_of(device) == 1 && instance == 7 ? 0 : not_found;
}

// Refuses samples of the wrong order, as NVML does.
int nvmlGpmMetricsGet(FakeMetrics* metrics)
{
  if (metrics->version != 1 || metrics->first->number == 0 || metrics->first->number >= metrics->second->number)
    return unsupported;
  for (unsigned i = 0; i < metrics->count; ++i) {
    auto& metric = metrics->metrics[i];
    metric.value = metrics->second->scale * (metric.id == 2 ? 40 : metric.id == 3 ? 30 : metric.id == 10 ? 20 : 0);
    metric.error = metric.value > 0 ? 0 : unsupported;
  }
  return 0;
}

int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz)
{
  *mhz = 1200;
  return 0;
}

int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits)
{
  *bits = 0x4;
  return 0;
}
}
