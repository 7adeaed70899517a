// The peak of a run's processors, and its model FLOPs utilisation.
#include "core/record/device_peak.hpp"

#include "core/record/fields.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace dt;
using Catch::Contains;

namespace {

// Four workers and a parameter server.
RunResult run_on(const std::string& device, const std::string& precision, double matmul = not_measured)
{
  RunResult run;
  run.throughput = 1000;
  run.flops = {.per_sample = 1e10, .precision = precision, .device = device, .matmul = matmul};
  run.ranks.resize(5);
  run.ranks[4].role = "server";
  return run;
}

double figure(const RunResult& run, const std::string& name)
{
  const auto fields = result_fields();
  return std::get<double>(value_of(*std::ranges::find(fields, name, &Field<RunResult>::name), run));
}

} // namespace

TEST_CASE("every device of the table has one row with its source, and no precision is slower than one with more bits")
{
  std::set<std::string_view> names;
  for (const auto& row : device_peaks()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.source.empty());
    CHECK(row.fp32 > 0);
    for (const double faster : {row.tf32, row.fp16, row.bf16, row.fp8}) CHECK((faster == 0 || faster >= row.fp32));
    CHECK((row.bf16 == 0 || row.bf16 == row.fp16));
    CHECK((row.fp8 == 0 || row.fp8 >= 1.99 * row.fp16));
  }
}

TEST_CASE("a device is found by the name that NVML and PyTorch give it, and a part of one or an unknown one is not")
{
  REQUIRE(device_peak("NVIDIA H100 80GB HBM3") != nullptr);
  CHECK(device_peak("NVIDIA H100 80GB HBM3")->flops("bf16") == Approx(989.4e12));
  CHECK(device_peak("A100-SXM4-40GB") == device_peak("NVIDIA A100-SXM4-40GB"));
  CHECK(device_peak("Tesla V100-SXM2-16GB")->flops("tf32") == Approx(15.7e12)); // it computes in fp32 instead
  CHECK(std::isnan(device_peak("Tesla V100-SXM2-16GB")->flops("bf16")));
  CHECK(device_peak("NVIDIA H100 80GB HBM3 MIG 1g.10gb") == nullptr);
  CHECK(device_peak("NVIDIA GeForce GT 1030") == nullptr);
}

TEST_CASE("the peak of a run is that of all workers' GPUs, a shared GPU counts once, and the source stands beside it")
{
  const auto run = run_on("NVIDIA A100-SXM4-80GB", "bf16", 250e12);
  const auto four = peak_of(run, 8, {}); // the other GPUs of the node idle
  CHECK(four.flops == Approx(4 * 312e12));
  CHECK_THAT(four.words, Contains("4 x 312 TFLOP/s, bf16 dense, of NVIDIA A100-SXM4-80GB (NVIDIA A100 data sheet)") &&
                             Contains("reached 250 TFLOP/s on one"));
  CHECK(peak_of(run, 2, {}).flops == Approx(2 * 312e12));
  CHECK(peak_of(run, not_counted, {}).flops == Approx(4 * 312e12)); // nobody saw how many there are
}

TEST_CASE("a processor's peak, and that of a GPU without a row, is what the run has measured")
{
  const auto cpu = peak_of(run_on("cpu", "fp32", 50e9), 0, {});
  CHECK(cpu.flops == Approx(200e9));
  CHECK_THAT(cpu.words, Contains("4 x 50 GFLOP/s, fp32"));
  const auto gpu = peak_of(run_on("NVIDIA Z1", "fp16", 5e12), 4, {});
  CHECK(gpu.flops == Approx(20e12));
  CHECK_THAT(gpu.words, Contains("because no data sheet of NVIDIA Z1 is known"));
}

TEST_CASE("the peak of processors is that of the cores that the workers use, unless products of matrices were faster")
{
  const RunCores cores{.flops = 320e9, .count = 4, .words = "EPYC, measured on node3 on 2026-11-29"};
  const auto run = run_on("cpu", "fp32", 50e9); // four workers
  CHECK(peak_of(run, 0, cores).flops == Approx(320e9));
  CHECK_THAT(peak_of(run, 0, cores).words, Contains("320 GFLOP/s, fp32, of 4 cores") && Contains(cores.words));
  const auto faster = peak_of(run_on("cpu", "fp32", 100e9), 0, cores);
  CHECK(faster.flops == Approx(400e9));
  CHECK_THAT(faster.words, Contains("faster than the multiply-adds that the home keeps (EPYC, measured on node3"));
  CHECK(std::isnan(peak_of(run_on("cpu", "bf16"), 0, cores).flops));
  CHECK(peak_of(run_on("NVIDIA Z1", "fp32", 5e12), 4, cores).flops == Approx(20e12));
}

TEST_CASE("without a peak there is no utilisation, and the words say why")
{
  const auto why = [](const RunResult& run) {
    const auto peak = peak_of(run, 4, {});
    CHECK(std::isnan(peak.flops));
    return peak.words;
  };
  CHECK_THAT(why(run_on("cpu", "bf16")), Contains("processors are in no table") && Contains("measured in bf16"));
  CHECK_THAT(why(run_on("NVIDIA Z1", "bf16")), Contains("no data sheet of NVIDIA Z1 is known"));
  CHECK_THAT(why(run_on("", "")), Contains("nobody counted the run's FLOPs"));
  CHECK(std::isnan(figure(run_on("cpu", "bf16"), "mfu")));
}

TEST_CASE("utilisation is throughput times the FLOPs of a sample, divided by the peak")
{
  auto run = run_on("cpu", "fp32");
  run.energy.peak_flops = 4e13;
  CHECK(figure(run, "model_flops") == Approx(1e13));
  CHECK(figure(run, "mfu") == Approx(0.25));
  run.flops.per_sample = not_measured;
  CHECK(std::isnan(figure(run, "model_flops")));
  CHECK(std::isnan(figure(run, "mfu")));
}
