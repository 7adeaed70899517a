// Simulated runs are runs: the same verbs, folders, states and store; marked, and never mixed with measured ones.
#include "core/files/file.hpp"
#include "core/machine/memory.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"

#include <unistd.h>

#include <map>

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;
using dt::test::with;

namespace {

std::string recipe(const std::string& more = "study: {mode: weak, nodes: [1, 4]}\n", const std::string& train = "steps: 4")
{
  return "version: 1\nname: sim\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 100000000, test_samples: 32}\n"
         "train: {batch_per_rank: 32, " +
         train + ", warmup_steps: 1, eval_every_epochs: 0, modelled_rate: 2000}\nsync: {allreduce: ring}\n" + more;
}

Json sweep(const Dtctl& dtctl, const std::string& name, const dt::test::Words& more = {})
{
  return dtctl.json(with({"sweep", name, "--platform", "ethernet-10g", "--wait"}, more));
}

Json rows(const Dtctl& dtctl, const std::string& query) { return dtctl.json({"query", query}).at("rows"); }

} // namespace

TEST_CASE("a simulated study is submitted, followed and shown as any other, and every output marks it")
{
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe());
  CHECK(sweep(dtctl, "sim.yaml").at("exit_code") == 0);
  const auto results = dtctl.json({"results", "last"});
  INFO(results.dump(1));
  CHECK(results.at("simulated_runs") == 2);
  for (const auto& point : results.at("scaling")) CHECK(point.at("label") == "simulated");
  const auto text = dtctl.run({"results", "last"}).out;
  CHECK(text.find("2 of 2 runs: simulated") != std::string::npos);
  const auto runs =
      rows(dtctl, "SELECT key, nodes, resources_platform, throughput, flops_per_sample, mfu FROM runs_flat ORDER BY nodes");
  REQUIRE(runs.size() == 2);
  CHECK(runs.at(1).at("resources_platform") == "ethernet-10g");
  // One rank computes 32 images in 16 ms; its updates take a little more. Four ranks must also communicate.
  const double one = runs.at(0).at("throughput"), four = runs.at(1).at("throughput");
  CHECK(one < 2000);
  CHECK(one > 1900);
  CHECK(four < 4 * one);
  CHECK(four > 2 * one);
  CHECK(runs.at(0).at("flops_per_sample") == 2'263'920); // of LeNet, as it trains
  CHECK(runs.at(0).at("mfu").is_null());                 // nothing was computed
  for (const auto& run : runs) CHECK(dtctl.run({"show", run.at("key")}).out.find("ethernet-10g") != std::string::npos);
  const auto refused = dtctl.run({"export", "--format", "trace", "last"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("is simulated") && !Catch::Contains("train.trace"));
}

TEST_CASE("a simulated study and its own export are one reference")
{
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe());
  auto slow = recipe();
  slow.replace(slow.find("name: sim"), 9, "name: slow").replace(slow.find("modelled_rate: 2000"), 19, "modelled_rate: 1600");
  dtctl.write("slow.yaml", slow);
  for (const auto* name : {"sim.yaml", "slow.yaml"}) REQUIRE(sweep(dtctl, name).at("exit_code") == 0);
  REQUIRE(dtctl.run({"export", "sim", "--format", "json", "-o", "ref.json"}).exit_code == 0);
  auto by_study = dtctl.json({"compare", "slow", "--reference", "sim"});
  auto by_file = dtctl.json({"compare", "slow", "--reference", "ref.json"});
  CHECK(by_study.at("exit_code") == 5);
  for (auto* answer : {&by_study, &by_file}) answer->erase("b"); // the title
  CHECK(by_file == by_study);
}

TEST_CASE("equal recipes give equal simulated times, and another figure of the platform is another run")
{
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe());
  sweep(dtctl, "sim.yaml");
  const auto first = rows(dtctl, "SELECT key, throughput, communication_share FROM runs_flat ORDER BY nodes");
  sweep(dtctl, "sim.yaml", {"--force"});
  CHECK(rows(dtctl, "SELECT key, throughput, communication_share FROM runs_flat ORDER BY nodes") == first);
  sweep(dtctl, "sim.yaml", {"--set", "platform.bandwidth=100 Mbit/s"});
  const auto all = rows(dtctl, "SELECT throughput FROM runs_flat WHERE nodes = 4 ORDER BY throughput");
  REQUIRE(all.size() == 2);
  CHECK(all.at(0).at("throughput").get<double>() < 0.5 * all.at(1).at("throughput").get<double>());
}

TEST_CASE("a communication thread hides communication on a core that the simulated node has for it")
{
  const Dtctl dtctl;
  const std::string four = "resources: {nodes: 4}\n";
  dtctl.write("sim.yaml", recipe(four + "sweep: {matrix: {sync.progress: [none, poll, thread]}}\n"));
  CHECK(sweep(dtctl, "sim.yaml", {"--set", "sync.bucket_bytes=65536"}).at("exit_code") == 0); // else one bucket holds everything
  const auto runs = rows(dtctl, "SELECT throughput FROM runs_flat ORDER BY sync_progress");
  REQUIRE(runs.size() == 3);
  const double none = runs.at(0).at("throughput"), poll = runs.at(1).at("throughput"), thread = runs.at(2).at("throughput");
  CHECK(thread > poll);
  CHECK(thread > none);
  CHECK(thread < 4 * 2000);
  const auto key = rows(dtctl, "SELECT key FROM runs_flat WHERE sync_progress = 'thread'").at(0).at("key");
  CHECK(dtctl.run({"show", key}).out.find("core 1 of its own") != std::string::npos);
  dtctl.write("hogwild.yaml",
              "version: 1\nname: hogwild\nmodel: { name: lenet }\ndata: { name: synthetic }\noptimizer: { name: sgd }\n"
              "train: {batch_per_rank: 32, steps: 4, warmup_steps: 1, modelled_rate: 2000}\n"
              "sync: {strategy: hogwild-sgd, servers: 1, server_threads: 4}\n" +
                  four);
  CHECK(sweep(dtctl, "hogwild.yaml").at("exit_code") == 0);
}

TEST_CASE("simulated and measured runs of a sweep are different points, which the verdict does not rank together")
{
  const Dtctl dtctl;
  dtctl.write("both.yaml", recipe("resources: {ranks_per_node: 2, oversubscribe: true}\nstudy: {repeats: 3}\n"
                                  "sweep: {matrix: {resources.platform: [\"\", ethernet-10g]}}\n"));
  // Measured runs put the samples of an epoch into an order: seconds for as many as the simulated ones have.
  CHECK(dtctl.json({"sweep", "both.yaml", "--set", "data.train_samples=1000", "--wait"}).at("exit_code") == 0);
  const auto results = dtctl.json({"results", "last"});
  INFO(results.dump(1));
  CHECK(results.at("scaling").size() == 2);
  CHECK_THAT(results.at("verdict").dump(), !Catch::Contains("the best"));
  // The user may ask.
  const auto compared = dtctl.json({"compare", "last", "--by", "resources.platform"});
  CHECK_THAT(compared.dump(), Catch::Contains("simulated on"));
}

TEST_CASE("a simulated run is cancelled while it simulates, and keeps no result")
{
  const Dtctl dtctl;
  dtctl.write("long.yaml", recipe("resources: {nodes: 16}\n", "steps: 100000000"));
  dtctl.json({"submit", "long.yaml", "--platform", "ethernet-10g"});
  const auto key = rows(dtctl, "SELECT key FROM runs_flat").at(0).at("key").get<std::string>();
  const dt::AttemptFolder attempt(dtctl.home() / "runs" / key, 1);
  const auto stepped = [&] {
    const auto beat = dt::read_heartbeat(attempt);
    return beat && beat->step > 0;
  };
  while (!stepped()) ::usleep(10'000);
  CHECK(dtctl.run({"cancel", "last"}).exit_code == 0);
  dtctl.run({"status", "--follow", "last"});
  CHECK(rows(dtctl, "SELECT state FROM runs_flat").at(0).at("state") == "cancelled");
  CHECK_FALSE(dt::read_result(attempt));
}

TEST_CASE("a simulation that ends at its time limit says so, and a dry run tells the real time and memory that simulations need")
{
  const Dtctl dtctl;
  dtctl.write("long.yaml", recipe("resources: {nodes: 16, time_limit: 3s}\n", "steps: 100000000"));
  CHECK(dtctl.json({"submit", "long.yaml", "--platform", "ethernet-10g", "--wait"}).at("states") == Json{{"timed_out", 1}});
  dtctl.write("sim.yaml", recipe("study: {mode: weak, nodes: [1, 1024]}\n"));
  const auto plan = dtctl.json({"sweep", "sim.yaml", "--platform", "ethernet-10g", "--dry-run"});
  INFO(plan.dump(1));
  for (const auto& run : plan.at("runs")) CHECK(run.at("cores") == 1); // whatever is simulated
  CHECK(plan.at("simulations").at("runs") == 2);
  CHECK(plan.at("simulations").at("real_s").get<double>() > 1);
  CHECK(plan.at("simulations").at("memory_bytes").get<double>() > 1e8);
}

TEST_CASE(
    "a simulation that needs more memory than there is is refused with its place and its estimate, and nothing is submitted")
{
  if (dt::machine_memory().available > 200'000'000'000) return; // enough for the largest simulation
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe("resources: {nodes: 65536}\n"));
  const auto refused = dtctl.run({"submit", "sim.yaml", "--platform", "ethernet-10g"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("sim.yaml:7:20: ") && Catch::Contains("1.6 TiB"));
  CHECK_FALSE(std::filesystem::exists(dtctl.home() / "runs"));
}

TEST_CASE("a run on a measured profile computes as the profile says, and its repeats differ as the measured steps did")
{
  const Dtctl dtctl;
  const std::string profile = "resources: {platform: ethernet-10g}\nstudy: {repeats: 2}\n";
  dtctl.write("sim.yaml", "version: 1\nname: sim\nmodel: {name: lenet}\ndata: {name: synthetic}\n"
                          "train: {batch_per_rank: 64, steps: 20, warmup_steps: 1, compute_profile: lenet}\n"
                          "sync: {allreduce: ring}\n" +
                              profile);
  CHECK(dtctl.json({"sweep", "sim.yaml", "--wait"}).at("exit_code") == 0);
  const auto runs = rows(dtctl, "SELECT throughput FROM runs_flat ORDER BY repeat");
  REQUIRE(runs.size() == 2);
  const double one = runs.at(0).at("throughput"), two = runs.at(1).at("throughput");
  CHECK(one != two);
  // The profile's forward and backward pass take 2.49 ms for 64 images.
  CHECK(one == Approx(64 / 2.49e-3).epsilon(0.2));
  for (const auto& [wanted, why] : {std::pair{"alexnet", "the run trains lenet"}, {"none-such", "Shipped profiles: alexnet, "}}) {
    const auto wrong = dtctl.run({"validate", "sim.yaml", "--set", std::string("train.compute_profile=") + wanted});
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, Catch::Contains(why));
  }
}

TEST_CASE("a study with a sensitivity prints the range of its result over the assumed figures, which are no points of it")
{
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe("study: {mode: weak, nodes: [1, 4], sensitivity: 20%}\n"));
  sweep(dtctl, "sim.yaml");
  const auto results = dtctl.json({"results", "last"});
  REQUIRE(results.at("scaling").size() == 2);
  REQUIRE(results.at("sensitivities").size() == 1);
  const auto& range = results.at("sensitivities").at(0);
  INFO(range.dump(1));
  const double speedup = results.at("scaling").at(1).at("speedup");
  CHECK(range.at("as_assumed") == speedup);
  CHECK(range.at("share") == 0.2);
  std::map<std::string, Json> figures;
  for (const auto& figure : range.at("figures")) figures[figure.at("key")] = figure;
  CHECK(figures.size() == 5); // bandwidth, latency, message time, memory and rate; no trunks
  CHECK(figures.at("platform.bandwidth").at("lower").get<double>() < speedup);
  CHECK(figures.at("platform.bandwidth").at("higher").get<double>() > speedup);
  CHECK(figures.at("train.modelled_rate").at("lower").get<double>() > speedup); // slower nodes wait less for the network
  CHECK(range.at("least").get<double>() < speedup);
  CHECK_THAT(dtctl.run({"results", "last"}).out, Catch::Contains("over ±20 %") && !Catch::Contains("assumed="));
  CHECK_THAT(dtctl.run({"results", "last", "--runs"}).out, Catch::Contains("bandwidth-20%"));
  CHECK(rows(dtctl, "SELECT label FROM scaling").size() == 2);
}

TEST_CASE("a modelled spread makes synchronous ranks wait for the slowest, and repeats differ")
{
  const Dtctl dtctl;
  dtctl.write("sim.yaml", recipe("study: {mode: weak, nodes: [1, 8], repeats: 3}\n", "steps: 20"));
  const auto efficiency = [&](const std::string& spread) {
    sweep(dtctl, "sim.yaml", {"--set", "train.modelled_step_spread=" + spread});
    return dtctl.json({"results", "last"}).at("scaling").at(1);
  };
  const auto even = efficiency("0"), scattered = efficiency("10%");
  CHECK(even.at("efficiency_low").is_null()); // equal repeats
  CHECK(scattered.at("efficiency_high").get<double>() < even.at("efficiency").get<double>());
  CHECK(scattered.at("throughput_min").get<double>() < scattered.at("throughput_max").get<double>());
}
