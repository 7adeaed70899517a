#include "core/record/device_peak.hpp"

#include "core/counted.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr double tera = 1e12;

constexpr std::string_view volta = "NVIDIA V100 data sheet", turing = "NVIDIA T4 data sheet", ampere = "NVIDIA A100 data sheet",
                           a30 = "NVIDIA A30 data sheet", a10 = "NVIDIA A10 data sheet", a40 = "NVIDIA A40 data sheet",
                           hopper = "NVIDIA H100 Tensor Core GPU Architecture, white paper",
                           h100_nvl = "NVIDIA H100 data sheet, half of the figures with sparsity",
                           h200 = "NVIDIA H200 data sheet, half of the figures with sparsity",
                           l4 = "NVIDIA L4 data sheet, half of the figures with sparsity", l40 = "NVIDIA L40 data sheet",
                           l40s = "NVIDIA L40S data sheet", mi300x = "AMD Instinct MI300X data sheet";

// The data sheets of Hopper and of the L4 print tensor cores with 2:4 sparsity, which is twice as much.
constexpr std::array peaks{
    // name, fp32, tf32, fp16, bf16, fp8, source
    DevicePeak{"Tesla V100-SXM2-16GB", 15.7, 0, 125, 0, 0, volta},
    DevicePeak{"Tesla V100-SXM2-32GB", 15.7, 0, 125, 0, 0, volta},
    DevicePeak{"Tesla V100-PCIE-16GB", 14, 0, 112, 0, 0, volta},
    DevicePeak{"Tesla V100-PCIE-32GB", 14, 0, 112, 0, 0, volta},
    DevicePeak{"Tesla V100S-PCIE-32GB", 16.4, 0, 130, 0, 0, volta},
    DevicePeak{"Tesla T4", 8.1, 0, 65, 0, 0, turing},
    DevicePeak{"A100-SXM4-40GB", 19.5, 156, 312, 312, 0, ampere},
    DevicePeak{"A100-SXM4-80GB", 19.5, 156, 312, 312, 0, ampere},
    DevicePeak{"A100-PCIE-40GB", 19.5, 156, 312, 312, 0, ampere},
    DevicePeak{"A100 80GB PCIe", 19.5, 156, 312, 312, 0, ampere},
    DevicePeak{"A30", 10.3, 82, 165, 165, 0, a30},
    DevicePeak{"A10", 31.2, 62.5, 125, 125, 0, a10},
    DevicePeak{"A40", 37.4, 74.8, 149.7, 149.7, 0, a40},
    DevicePeak{"L4", 30.3, 60, 121, 121, 242.5, l4},
    DevicePeak{"L40", 90.5, 90.5, 181.05, 181.05, 362, l40},
    DevicePeak{"L40S", 91.6, 183, 362.05, 362.05, 733, l40s},
    DevicePeak{"H100 80GB HBM3", 66.9, 494.7, 989.4, 989.4, 1978.9, hopper},
    DevicePeak{"H100 PCIe", 51.2, 378, 756, 756, 1513, hopper},
    DevicePeak{"H100 NVL", 60, 417.5, 835.5, 835.5, 1670.5, h100_nvl},
    DevicePeak{"H200", 67, 494.5, 989.5, 989.5, 1979, h200},
    DevicePeak{"H200 NVL", 60, 417.5, 835.5, 835.5, 1670.5, h200},
    DevicePeak{"AMD Instinct MI300X", 163.4, 653.7, 1307.4, 1307.4, 2614.9, mi300x},
};

std::string rate_words(double flops)
{
  return flops >= tera ? fmt::format("{:.4g} TFLOP/s", flops / tera) : fmt::format("{:.3g} GFLOP/s", flops * 1e-9);
}

std::int64_t workers_of(const RunResult& result)
{
  return std::ranges::count_if(result.ranks, [](const RankRecord& rank) { return rank.role == "worker"; });
}

// A half-sentence that follows a data sheet's peak: the rate that the run itself has measured. Empty if it measured none.
std::string measured_words(const RunFlops& flops)
{
  return std::isnan(flops.matmul) ? "" : fmt::format("; products of large matrices reached {} on one", rate_words(flops.matmul));
}

} // namespace

double DevicePeak::flops(std::string_view precision) const
{
  const double teraflops = precision == "fp32"   ? fp32
                           : precision == "tf32" ? (tf32 > 0 ? tf32 : fp32)
                           : precision == "fp16" ? fp16
                           : precision == "bf16" ? bf16
                           : precision == "fp8"  ? fp8
                                                 : 0;
  return teraflops > 0 ? teraflops * tera : not_measured;
}

std::span<const DevicePeak> device_peaks() { return peaks; }

const DevicePeak* device_peak(std::string_view name)
{
  constexpr std::string_view maker = "NVIDIA ";
  if (name.starts_with(maker)) name.remove_prefix(maker.size());
  const auto* found = std::ranges::find(peaks, name, &DevicePeak::name);
  return found == peaks.end() ? nullptr : found;
}

RunPeak peak_of(const RunResult& result, std::int64_t gpus, const RunCores& cores)
{
  const auto& flops = result.flops;
  const auto workers = workers_of(result);
  if (flops.device.empty() || flops.precision.empty() || workers == 0)
    return {.words = "not known: nobody counted the run's FLOPs on one kind of device"};
  const bool is_cpu = flops.device == "cpu";
  const auto devices = is_cpu || gpus <= 0 ? workers : std::min(workers, gpus);
  const auto* row = device_peak(flops.device);
  if (const double by_sheet = row == nullptr ? not_measured : row->flops(flops.precision); !std::isnan(by_sheet))
    return {.flops = by_sheet * static_cast<double>(devices),
            .words = fmt::format("{} x {}, {} dense, of {} ({}){}", devices, rate_words(by_sheet), flops.precision, flops.device,
                                 row->source, measured_words(flops))};
  const bool is_of_cores = is_cpu && flops.precision == "fp32" && !std::isnan(cores.flops);
  const bool is_too_low = is_of_cores && flops.matmul * static_cast<double>(devices) > cores.flops;
  if (is_of_cores && !is_too_low)
    return {.flops = cores.flops,
            .words = fmt::format("{}, fp32, of {}: multiply-adds in registers, {}{}", rate_words(cores.flops),
                                 counted(cores.count, "core"), cores.words, measured_words(flops))};
  if (!std::isnan(flops.matmul))
    return {.flops = flops.matmul * static_cast<double>(devices),
            .words = fmt::format("{} x {}, {}: products of large matrices, measured by the run itself{}", devices,
                                 rate_words(flops.matmul), flops.precision,
                                 is_too_low ? " and faster than the multiply-adds that the home keeps (" + cores.words + ")"
                                 : is_cpu   ? " on a rank's threads"
                                            : fmt::format(", because no data sheet of {} is known", flops.device))};
  return {.words = fmt::format("not known: {}, and no products of matrices were measured in {}",
                               is_cpu ? "processors are in no table" : "no data sheet of " + flops.device + " is known",
                               flops.precision)};
}

} // namespace dt
