// Two GPUs that answer NVML's calls with known figures: 100 W, by the energy counter and by the power, half of the time busy, 2
// GiB in use, 1,200 MHz, held back by the power limit. Loaded by the path in DTCTL_NVML. With FAKE_NVML_NO_COUNTER there is no
// energy counter.
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

int gpus[2];

int number_of(const void* device) { return device == &gpus[0] ? 0 : 1; }

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
  std::snprintf(text, length, "GPU-fake-%d", number_of(device));
  return 0;
}

int nvmlDeviceGetName(void*, char* text, unsigned length)
{
  std::snprintf(text, length, "Fake 100");
  return 0;
}

// 100 W are 100 mJ in a millisecond.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules)
{
  if (std::getenv("FAKE_NVML_NO_COUNTER") != nullptr) return 3;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto milliseconds =
      static_cast<unsigned long long>(now.tv_sec) * 1000 + static_cast<unsigned long long>(now.tv_nsec) / 1000000;
  *millijoules = milliseconds * 100;
  return 0;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts)
{
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
