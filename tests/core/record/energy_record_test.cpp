// The figures of a run from those of its nodes.
#include "core/record/energy_record.hpp"

#include "tests/core/put_file.hpp"
#include "tests/core/record/attempt.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using Catch::Contains;

namespace {

GpuEnergy gpu(int index, double joules)
{
  return {.index = index,
          .id = "GPU-" + std::to_string(index) + "abc",
          .name = "H100",
          .joules = joules,
          .is_counted = true,
          .busy = 0.5,
          .clock_mhz = 1000,
          .least_clock_mhz = 900,
          .memory_peak_bytes = 100 + index,
          .activity = {.sm_busy = 0.25 * (1 + index), .occupancy = 0.5},
          .held_back = {{"its power limit", "0.5"}}};
}

// 10 s, 500 J of the host, and two GPUs with 1,000 and 2,000 J.
NodeEnergy node(const std::string& host)
{
  return {.host = host,
          .machine = "machine of " + host,
          .begin_unix_s = 1700000000,
          .seconds = 10,
          .of_measured_steps = true,
          .host_joules = 500,
          .host_domains = "package-0, dram",
          .host_why = {},
          .gpu_why = {},
          .gpus = {gpu(0, 1000), gpu(1, 2000)}};
}

RankRecord rank(int number, std::int64_t memory_peak_bytes)
{
  RankRecord rank;
  rank.rank = number;
  rank.host = "a";
  rank.memory_peak_bytes = memory_peak_bytes;
  return rank;
}

RunResult result()
{
  RunResult result;
  result.throughput = 100;
  result.ranks = {rank(0, 40), rank(1, 50)};
  return result;
}

} // namespace

TEST_CASE("a run's energy is the sum over its nodes, and its watts over its throughput are the joules of a sample")
{
  const auto run = energy_of({node("a"), node("b")}, result(), {}, {}, 1).run;
  CHECK(run.seconds == 10);
  CHECK(run.host_joules == 1000);
  CHECK(run.gpu_joules == 6000);
  CHECK(run.joules == 7000);
  CHECK(run.watts == Approx(700));
  CHECK(run.joules_per_sample == Approx(7));
  CHECK(run.gpus == 4);
  CHECK(run.gpu_busy == 0.5);
  CHECK(run.gpu_memory_peak_bytes == 101);
  CHECK(run.gpu_activity.sm_busy == Approx(0.375));
  CHECK(run.gpu_activity.occupancy == Approx(0.5));
  CHECK(std::isnan(run.gpu_activity.tensor_busy));
  CHECK(run.facts.at("measured") == "from the begin of the measured steps to the end of the training");
  CHECK(run.facts.at("host energy") == "RAPL: package-0, dram");
  CHECK(run.facts.at("GPU energy") == "NVML's energy counter of 4 x H100");
  CHECK(run.facts.at("GPU clocks were held back by") == "its power limit 50.0 % of the time");
}

TEST_CASE("only the GPUs of the ranks count, named by number or by UUID")
{
  for (const auto& names : {std::vector<std::string>{"1"}, {"GPU-1abc"}, {"GPU-1a"}}) {
    const auto run = energy_of({node("a")}, result(), {{"a", names}}, {}, 1).run;
    CHECK(run.gpu_joules == 2000);
    CHECK(run.gpus == 1);
  }
  CHECK(energy_of({node("a")}, result(), {{"a", {"0", "1", "1"}}}, {}, 1).run.gpu_joules == 3000);
  const auto none = energy_of({node("a")}, result(), {{"a", {}}}, {}, 1).run;
  CHECK(std::isnan(none.gpu_joules));
  CHECK(none.watts == Approx(50));
  CHECK(none.gpus == 0);
  CHECK(none.joules == 500); // of the host alone
  CHECK(none.facts.at("GPU energy") == "the ranks use no GPU");
}

TEST_CASE("GPUs of the ranks that NVML does not see make the sum unknown, and a list for none is none")
{
  const auto hidden = energy_of({node("a")}, result(), {{"a", {"1", "2"}}}, {}, 1).run;
  CHECK(std::isnan(hidden.gpu_joules));
  CHECK(hidden.facts.at("GPU energy") == "NVML does not see all GPUs of the ranks");
  CHECK(energy_of({node("a")}, result(), {{"a", {"-1"}}}, {}, 1).run.gpus == 0);
}

TEST_CASE("a part of a GPU has memory and activity, but no energy of its own")
{
  auto divided = node("a");
  divided.gpus.push_back(gpu(1, not_measured));
  auto& part = divided.gpus.back();
  part.id = "MIG-7";
  part.memory_peak_bytes = 7;
  part.activity.sm_busy = 0.1;
  const auto run = energy_of({divided}, result(), {{"a", {"MIG-7"}}}, {}, 1).run;
  CHECK(std::isnan(run.gpu_joules));
  CHECK(run.gpus == 1);
  CHECK(run.gpu_memory_peak_bytes == 7);
  CHECK(run.gpu_activity.sm_busy == Approx(0.1));
  const std::string why = "the ranks use parts of GPUs (MIG), whose energy is not counted apart";
  CHECK(run.facts.at("GPU energy") == why);
  CHECK(energy_of({divided}, result(), {{"a", {"1"}}}, {}, 1).run.facts.at("GPU energy") == why); // CUDA gives it a part
  CHECK(energy_of({divided}, result(), {{"a", {"0"}}}, {}, 1).run.gpu_joules == 1000);
  CHECK(energy_of({divided}, result(), {}, {}, 1).run.facts.at("GPU energy") == why);
  CHECK(energy_of({node("a")}, result(), {{"a", {"MIG-7"}}}, {}, 1).run.facts.at("GPU energy") == why); // NVML does not see it
}

TEST_CASE("namespaces of one machine count its energy once")
{
  auto first = node("a"), second = node("b");
  second.machine = first.machine;
  second.seconds = 8;
  second.host_joules = 400;
  const auto run = energy_of({first, second}, result(), {}, {}, 1).run;
  CHECK(run.host_joules == 500);
  CHECK(run.gpu_joules == 3000);
}

TEST_CASE("what one node could not measure is missing for the run, with the reason")
{
  auto blind = node("b");
  blind.host_joules = not_measured;
  blind.host_why = "powercap is not readable: x";
  blind.gpus.clear();
  blind.gpu_why = "no NVML";
  const auto run = energy_of({node("a"), blind}, result(), {}, {}, 1).run;
  for (const double figure : {run.joules, run.host_joules, run.gpu_joules, run.watts, run.joules_per_sample})
    CHECK(std::isnan(figure));
  CHECK(run.facts.at("host energy") == "powercap is not readable: x");
  CHECK(run.facts.at("GPU energy") == "no NVML");
  const auto lost = energy_of({node("a")}, result(), {}, {"b"}, 1).run;
  CHECK(std::isnan(lost.joules));
  CHECK(lost.facts.at("host energy") == "not measured on b");
}

TEST_CASE("host memory is that of the job's control group, else the sum over a node's ranks")
{
  auto grouped = node("a");
  CHECK(energy_of({grouped}, result(), {}, {}, 1).run.host_memory_peak_bytes == 90);
  grouped.memory_peak_bytes = 70;
  const auto run = energy_of({grouped}, result(), {}, {}, 1).run;
  CHECK(run.host_memory_peak_bytes == 70);
  CHECK_THAT(run.facts.at("host memory"), Contains("control group"));
  RunResult silent;
  silent.ranks = {rank(0, not_counted)};
  CHECK(energy_of({node("a")}, silent, {}, {}, 1).run.host_memory_peak_bytes == not_counted);
}

TEST_CASE("an energy record and a node's own file read back as they were written")
{
  const test::Attempt here;
  const auto& attempt = here.attempt;
  CHECK_FALSE(read_energy(attempt));
  auto one = node("a");
  one.gpus[1].joules = not_measured;
  const auto record = energy_of({one}, result(), {{"a", {"0"}}}, {}, 1);
  test::put_file(energy_path(attempt), to_json(record));
  const auto read = read_energy(attempt);
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(record));
  CHECK(read->run.gpu_joules == 1000);
  CHECK(read->run.facts == record.run.facts);
  CHECK(std::isnan(read->nodes.at(0).gpus.at(1).joules));
  CHECK(read->nodes.at(0).gpus.at(0).held_back == one.gpus[0].held_back);
  CHECK(to_json(parse_node_energy(to_json(one)).value()) == to_json(one));
  CHECK_FALSE(parse_node_energy("{"));
}

TEST_CASE("workers use as many cores as they have threads, at most those of each machine, whose hosts share them")
{
  const auto with_cores = [](const std::string& host, const std::string& machine, std::int64_t cores) {
    auto one = node(host);
    one.machine = machine;
    one.core_flops = 50e9;
    one.cores = cores;
    one.core_words = "EPYC, measured on a on 2026-11-29";
    return one;
  };
  auto run = result();
  run.flops = {.per_sample = 1e9, .precision = "fp32", .device = "cpu", .matmul = not_measured};
  const auto peak = [&](const std::vector<NodeEnergy>& nodes, std::int64_t threads) {
    return energy_of(nodes, run, {}, {}, threads).run.peak_flops;
  };
  CHECK(peak({with_cores("a", "m", 8)}, 1) == Approx(2 * 50e9)); // two workers
  CHECK(peak({with_cores("a", "m", 8)}, 3) == Approx(6 * 50e9));
  CHECK(peak({with_cores("a", "m", 8)}, 8) == Approx(8 * 50e9));
  run.ranks[1].host = "b";
  CHECK(peak({with_cores("a", "m", 2), with_cores("b", "m", 2)}, 2) == Approx(2 * 50e9));
  CHECK(peak({with_cores("a", "m", 2), with_cores("b", "n", 2)}, 2) == Approx(4 * 50e9));
  CHECK(std::isnan(peak({with_cores("a", "m", 2), node("b")}, 2))); // nobody has measured b
  run.ranks[1].role = "server";
  CHECK(peak({with_cores("a", "m", 2), node("b")}, 1) == Approx(50e9));
}
