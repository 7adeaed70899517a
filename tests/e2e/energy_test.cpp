// Energy, GPUs and memory of a program and of dtengine, as dtctl records them: NVML answered by tests/support/fake_nvml.cpp,
// powercap by a folder whose counter counts 100 W and begins again at 0 every four seconds.
#include "core/files/file.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/fake_powercap.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt::test;
using Catch::Contains;

namespace {

class HundredWatts {
 public:
  HundredWatts()
  {
    powercap_.zone("intel-rapl:0", "package-0", 0, range_uj);
    thread_ = std::thread([this] {
      const auto begin = std::chrono::steady_clock::now();
      while (!is_over_) {
        const auto passed = std::chrono::steady_clock::now() - begin;
        const auto uj = 100 * std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
        powercap_.set("intel-rapl:0", static_cast<std::uint64_t>(uj) % range_uj);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }
  HundredWatts(const HundredWatts&) = delete;
  HundredWatts& operator=(const HundredWatts&) = delete;
  ~HundredWatts()
  {
    is_over_ = true;
    thread_.join();
  }
  Words environment() const
  {
    return {"DTCTL_NVML=" DTCTL_BINARY_DIR "/tests/libfake_nvml.so", "DTCTL_POWERCAP=" + powercap_.folder().string()};
  }

 private:
  static constexpr std::uint64_t range_uj = 400'000'000;
  FakePowercap powercap_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// The row of the only run, as soon as its energy is there: dtjob writes it after the result.
Json energy_row(const Dtctl& dtctl)
{
  Json row;
  const bool is_there = eventually([&] {
    row = dtctl
              .json({"query",
                     "SELECT energy_seconds, energy_joules, energy_host_joules, energy_gpu_joules, energy_joules_per_sample, "
                     "energy_watts, energy_gpus, gpu_busy, gpu_sm_busy, gpu_tensor_busy, gpu_clock_mhz, gpu_memory_peak_bytes, "
                     "host_memory_peak_bytes, "
                     "memory_peak_bytes, energy_facts, throughput, flops_per_sample, flops_device, flops_matmul, "
                     "model_flops, peak_flops, mfu FROM runs_results"})
              .at("rows")[0];
    return !row.at("energy_facts").is_null();
  });
  INFO(row.dump());
  REQUIRE(is_there);
  return row;
}

// Steps of a tenth of a second.
const std::string slow_trainer = "import dtctl_report as report, time\nreport.begin()\nfor i in range(30):\n    time.sleep(0.1)\n"
                                 "    report.step(loss=0.5, samples=10)\nreport.result()\n";

} // namespace

TEST_CASE("the energy of a program's measured steps is power times time, and only that of the GPUs that its ranks see")
{
  const HundredWatts watts;
  const Own own(slow_trainer, recipe("resources: {env: {CUDA_VISIBLE_DEVICES: '1'}}\n"));
  REQUIRE(own.dtctl.json({"submit", "own.yaml", "--wait"}, watts.environment()).at("states") == Json{{"succeeded", 1}});
  const auto row = energy_row(own.dtctl);
  INFO(row.dump());
  const double seconds = row.at("energy_seconds").get<double>();
  CHECK(seconds > 1);
  CHECK(row.at("energy_gpus") == 1);
  CHECK(row.at("energy_gpu_joules").get<double>() == Approx(100 * seconds).epsilon(0.2));
  CHECK(row.at("energy_host_joules").get<double>() == Approx(100 * seconds).epsilon(0.4)); // the thread that counts may be late
  const double joules = row.at("energy_joules").get<double>();
  CHECK(joules == Approx(row.at("energy_gpu_joules").get<double>() + row.at("energy_host_joules").get<double>()));
  CHECK(row.at("energy_watts").get<double>() == Approx(joules / seconds));
  CHECK(row.at("energy_joules_per_sample").get<double>() == Approx(joules / seconds / row.at("throughput").get<double>()));
  CHECK(row.at("gpu_busy") == Approx(0.5));
  CHECK(row.at("gpu_sm_busy") == Approx(0.4));
  CHECK(row.at("gpu_tensor_busy").is_null());
  CHECK(row.at("gpu_clock_mhz") == Approx(1200));
  CHECK(row.at("gpu_memory_peak_bytes") == std::int64_t{2} << 30);
  CHECK(row.at("host_memory_peak_bytes") == row.at("memory_peak_bytes")); // one rank
  CHECK(row.at("host_memory_peak_bytes").get<double>() > 1e6);
  const auto facts = Json::parse(row.at("energy_facts").get<std::string>());
  CHECK(facts.at("host energy") == "RAPL: package-0");
  CHECK(facts.at("GPU energy") == "NVML's energy counter of 1 x Fake 100");
  const auto results = own.dtctl.json({"results", "own"});
  CHECK(results.at("scaling")[0].at("joules_per_sample") == row.at("energy_joules_per_sample"));
  CHECK_THAT(own.dtctl.run({"results", "own", "--best-by", "energy"}).out, Contains("J/sample"));
}

TEST_CASE("a training by dtengine has the energy of its hosts, no GPUs, and a model FLOPs utilisation with the peak beside it")
{
  const HundredWatts watts;
  const Dtctl dtctl;
  dtctl.write("engine.yaml",
              "version: 1\nname: engine\nmodel: {name: lenet}\ndata: {name: synthetic}\n"
              "train: {global_batch: 64, steps: 1200}\n"); // seconds, beside which a late step of the counter is small
  REQUIRE(dtctl.json({"submit", "engine.yaml", "--wait"}, watts.environment()).at("states") == Json{{"succeeded", 1}});
  const auto row = energy_row(dtctl);
  INFO(row.dump());
  const double seconds = row.at("energy_seconds").get<double>();
  CHECK(row.at("energy_host_joules").get<double>() == Approx(100 * seconds).epsilon(0.4));
  CHECK(row.at("energy_joules") == row.at("energy_host_joules"));
  CHECK(row.at("energy_joules_per_sample").get<double>() > 0);
  CHECK(row.at("energy_gpu_joules").is_null());
  CHECK(row.at("energy_gpus") == 0);
  CHECK(row.at("host_memory_peak_bytes") == row.at("memory_peak_bytes"));
  CHECK_THAT(row.at("energy_facts").get<std::string>(), Contains("use no GPU"));

  const double achieved = row.at("throughput").get<double>() * row.at("flops_per_sample").get<double>(), mfu = row.at("mfu");
  CHECK(row.at("model_flops").get<double>() == Approx(achieved));
  CHECK(mfu == Approx(achieved / row.at("peak_flops").get<double>()));
  CHECK(mfu > 0.001);
  CHECK(mfu < 1);
  CHECK(row.at("flops_device") == "cpu");
  CHECK(row.at("peak_flops").get<double>() >= row.at("flops_matmul").get<double>()); // one rank
  CHECK_THAT(dtctl.run({"show", dtctl.json({"status"}).at("runs")[0].at("key")}).out, Contains("fp32, of 1 core"));
  CHECK(dtctl.json({"results", "engine"}).at("scaling")[0].at("mfu").get<double>() == Approx(mfu));
  CHECK_THAT(dtctl.run({"results", "engine", "--best-by", "mfu"}).out, Contains("MFU"));
  REQUIRE(dtctl.run({"export", "engine", "--format", "prometheus", "-o", "engine.prom"}).ok());
  CHECK_THAT(dt::read_file(dtctl.folder() / "engine.prom"), Contains("flops_utilisation"));
}

TEST_CASE("where neither the processors nor a GPU count energy, the figures are NULL and the run says why")
{
  const Own own(trainer());
  const Words nowhere{"DTCTL_NVML=/nowhere/libnvidia-ml.so.1", "DTCTL_POWERCAP=/nowhere"};
  REQUIRE(own.dtctl.json({"submit", "own.yaml", "--wait"}, nowhere).at("states") == Json{{"succeeded", 1}});
  const auto row = energy_row(own.dtctl);
  INFO(row.dump());
  for (const auto* name :
       {"energy_joules", "energy_host_joules", "energy_gpu_joules", "energy_joules_per_sample", "energy_watts", "energy_gpus",
        "gpu_busy", "gpu_clock_mhz", "gpu_memory_peak_bytes", "flops_per_sample", "peak_flops", "mfu"})
    CHECK(row.at(name).is_null());
  CHECK(row.at("host_memory_peak_bytes").get<double>() > 1e6);
  const auto facts = Json::parse(row.at("energy_facts").get<std::string>());
  CHECK(facts.at("host energy") == "no processor's energy counter in /nowhere");
  CHECK(facts.at("GPU energy") == "no NVML: /nowhere/libnvidia-ml.so.1 cannot be loaded");
  const auto best = own.dtctl.run({"results", "own", "--best-by", "energy"});
  CHECK(best.exit_code == 2);
  CHECK_THAT(best.err, Contains("for energy"));
}
