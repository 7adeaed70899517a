// The peak of a run's processors, by which its model FLOPs utilisation is computed: a row of a table of data sheets, what
// the cores' multiply-adds reached, or what the run itself has measured [Chowdhery2022, appendix B].
#pragma once

#include "core/record/run_record.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dt {

// A device by its data sheet: multiply-adds of dense matrices, in TFLOP/s. 0: it does not compute in this precision.
struct DevicePeak {
  std::string_view name; // as NVML and PyTorch give it, without "NVIDIA " before it
  double fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0;
  std::string_view source;
  // In FLOP/s, in a precision as RunFlops names it. A device without tf32 computes in fp32 instead. NaN: not known.
  double flops(std::string_view precision) const;
};

std::span<const DevicePeak> device_peaks();
// The row of a device; a null pointer if there is none.
const DevicePeak* device_peak(std::string_view name);

// The peak of all devices that a run has computed on.
struct RunPeak {
  double flops = not_measured; // FLOP/s; NaN: not known
  std::string words;           // how many devices of what, and the source; or why it is not known
};

// The cores that the workers of a run compute on.
struct RunCores {
  double flops = not_measured; // of all of them, FLOP/s in fp32 (core/maths/multiply_adds.hpp); NaN: not known
  std::int64_t count = 0;
  std::string words{}; // of which processor, measured where and when
};

// `gpus`: those that the ranks use, as RunEnergy counts them. A rank computes on one device; ranks that share a GPU count it
// once. Of processors in fp32 the peak is that of `cores`, unless products of matrices were faster, which shows that it is wrong.
RunPeak peak_of(const RunResult& result, std::int64_t gpus, const RunCores& cores);

} // namespace dt
