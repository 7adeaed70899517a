// dtsim: simulated times against what the schedules cost on paper.
#include "tests/engine/sim/dtsim.hpp"

#include <algorithm>
#include <bit>

#include <sys/resource.h>

using Catch::Matchers::Contains;
using namespace dt::test;

namespace {

// Simulated seconds of an allreduce of 16 MiB on links of 1 Gbit/s without latency, with memory that costs nothing.
double allreduce_s(const std::string& algorithm, int nodes, const std::string& more = "")
{
  return sum_s("--algorithm " + algorithm + " --nodes " + std::to_string(nodes) +
               " --bytes 16777216 --bandwidth 1Gbit/s --latency 0us --memory-bandwidth 1000000GB/s" + more);
}

constexpr double megabytes = 16.777216, per_s = 125; // 1 Gbit/s

} // namespace

TEST_CASE("dtsim links no oneDNN")
{
  const auto libraries = dt::run_command({"ldd", DTCTL_BINARY_DIR "/bin/dtsim"}).out;
  CHECK_THAT(libraries, Contains("libsimgrid") && !Contains("libdnnl"));
}

TEST_CASE("without latency, ring and halving-doubling take the time of a bandwidth-optimal allreduce")
{
  const auto optimal_s = [](int nodes) { return 2 * megabytes / per_s * (nodes - 1) / nodes; };
  for (const auto* algorithm : {"ring", "halving-doubling"})
    for (const int nodes : {2, 4, 7, 8, 9, 16, 31, 64}) {
      CAPTURE(algorithm, nodes);
      CHECK(allreduce_s(algorithm, nodes) == Approx(optimal_s(nodes)).epsilon(0.02));
    }
}

namespace {

// Powers of two, odd ones and primes, on both sides of eight, which was a border until 2026-11-29.
const std::vector<int> all_kinds_of_nodes{2, 3, 7, 8, 9, 11, 13, 16, 24, 31};

// Of the tables of closed forms: links of 10 Gbit/s with 30 us, and memory that costs nothing.
constexpr double link_latency_s = 30e-6, link_bytes_per_s = 1.25e9;

double closed_form_sum_s(const std::string& algorithm, int nodes, int bytes)
{
  return sum_s("--algorithm " + algorithm + " --nodes " + std::to_string(nodes) + " --bytes " + std::to_string(bytes) +
               " --bandwidth 10Gbit/s --latency 30us --memory-bandwidth 1000000GB/s");
}

// What every rank must send and receive, once in each half of the sum.
double optimal_bytes_s(int nodes, int bytes) { return 2.0 * bytes * (nodes - 1) / nodes / link_bytes_per_s; }

double halving_doubling_s(int nodes, int bytes)
{
  int rounds = 0; // one for each prime factor
  for (int rest = nodes, factor = 2; rest > 1; ++factor)
    for (; rest % factor == 0; rest /= factor) ++rounds;
  return 2 * rounds * link_latency_s + optimal_bytes_s(nodes, bytes);
}

int rounds_of_tree(int nodes) { return static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1))); }

// The most connections between rank 0 and another rank.
int depth_of_tree(int nodes)
{
  int depth = 0;
  for (unsigned rank = 0; rank < static_cast<unsigned>(nodes); ++rank) depth = std::max(depth, std::popcount(rank));
  return depth;
}

} // namespace

TEST_CASE("halving-doubling takes its closed form on every number of nodes, in short and long messages")
{
  for (const int bytes : {4096, 246'824, 1 << 20, 16 << 20})
    for (const int nodes : all_kinds_of_nodes) {
      CAPTURE(bytes, nodes);
      CHECK(closed_form_sum_s("halving-doubling", nodes, bytes) == Approx(halving_doubling_s(nodes, bytes)).epsilon(0.03));
    }
  for (const int nodes : {9, 13}) // the same on one switch
    CHECK(closed_form_sum_s("topology-aware", nodes, 1 << 20) == Approx(halving_doubling_s(nodes, 1 << 20)).epsilon(0.03));
}

// A slice that is cut into several messages is passed on before it is whole, so less than all latencies count.
TEST_CASE("a ring takes its closed form on every number of nodes, and of long slices between that and its bytes alone")
{
  for (const int nodes : all_kinds_of_nodes) {
    const double latencies_s = 2 * (nodes - 1) * link_latency_s;
    CAPTURE(nodes);
    CHECK(closed_form_sum_s("ring", nodes, 4096) == Approx(latencies_s + optimal_bytes_s(nodes, 4096)).epsilon(0.01));
    for (const int bytes : {1 << 20, 16 << 20}) {
      const double sum_s = closed_form_sum_s("ring", nodes, bytes);
      CHECK(sum_s < 1.01 * (latencies_s + optimal_bytes_s(nodes, bytes)));
      CHECK(sum_s > std::max(latencies_s, optimal_bytes_s(nodes, bytes)));
    }
  }
}

// A rank receives from its children in turn, so the bytes of a short sum count up to once a child and direction.
TEST_CASE("a tree takes two latencies a level on every number of nodes, and of longer vectors the bytes of its root")
{
  for (const int nodes : all_kinds_of_nodes) {
    CAPTURE(nodes);
    const double short_s = closed_form_sum_s("tree", nodes, 4096), vector_s = 4096 / link_bytes_per_s;
    CHECK(short_s > 2 * depth_of_tree(nodes) * (link_latency_s + vector_s));
    CHECK(short_s < 1.01 * (2 * depth_of_tree(nodes) * link_latency_s + 2 * 2 * rounds_of_tree(nodes) * vector_s));
    const double root_s = 2 * rounds_of_tree(nodes) * (1 << 20) / link_bytes_per_s;
    CHECK(closed_form_sum_s("tree", nodes, 1 << 20) == Approx(root_s + 2 * link_latency_s).epsilon(0.02));
  }
}

// Parts of 64 KiB and more cross in a ring, shorter ones by halving-doubling.
TEST_CASE("a hierarchical sum of single ranks takes the time of the algorithm in which its blocks cross")
{
  for (const int bytes : {4096, 1 << 20})
    for (const int nodes : all_kinds_of_nodes) {
      CAPTURE(bytes, nodes);
      const bool in_ring = bytes / nodes >= (64 << 10);
      const auto* algorithm = in_ring ? "ring" : "halving-doubling";
      CHECK(closed_form_sum_s("hierarchical", nodes, bytes) == Approx(closed_form_sum_s(algorithm, nodes, bytes)).epsilon(0.03));
    }
}

TEST_CASE(
    "a short sum takes a latency for each round, 2 (P - 1) in the ring, and in halving-doubling 2 for each prime factor of P")
{
  const auto rounds = [](const std::string& algorithm, int nodes) { // of 1 ms each
    return 1e3 * sum_s("--bandwidth 100Gbit/s --latency 1ms --bytes " + std::to_string(4 * nodes) + " --nodes " +
                       std::to_string(nodes) + " --algorithm " + algorithm);
  };
  CHECK(rounds("ring", 8) == Approx(14).epsilon(0.01));
  for (const int prime : {7, 11, 13, 31, 127}) CHECK(rounds("halving-doubling", prime) == Approx(2).epsilon(0.02));
  CHECK(rounds("halving-doubling", 64) == Approx(12).epsilon(0.01));
}

TEST_CASE("trunks between supernodes cost halving-doubling time, and topology-aware less")
{
  const std::string trunks = " --nodes-per-supernode 16 --trunk-share 0.0625";
  const double plain_s = allreduce_s("halving-doubling", 32), crossed_s = allreduce_s("halving-doubling", 32, trunks),
               aware_s = allreduce_s("topology-aware", 32, trunks);
  // The round of halving and the round of doubling that cross the trunk carry half of the vector each from all 16 nodes, over a
  // sixteenth of their bandwidth.
  CHECK(crossed_s == Approx(plain_s + 2 * megabytes / 2 / per_s * 15).epsilon(0.02));
  CHECK(aware_s < 0.5 * crossed_s);
}

// Additions read two vectors and write one; the second half of the sum only sends. If slices were received beside the vector and
// copied, a sum of nine ranks would take 195 ms.
TEST_CASE("sums take the time of their additions and bytes, and no copy of the vector")
{
  constexpr double bytes = 203e6, link = 12.5e9, memory = 5e9;
  for (const auto* algorithm : {"ring", "halving-doubling"})
    for (const int nodes : {2, 5, 8, 9, 13, 16, 24, 64}) {
      CAPTURE(algorithm, nodes);
      CHECK(sum_s("--bytes 203000000 --bandwidth 12.5GB/s --latency 2us --memory-bandwidth 5GB/s --algorithm " +
                  std::string(algorithm) + " --nodes " + std::to_string(nodes)) ==
            Approx(bytes * (nodes - 1) / nodes * (3 / memory + 1 / link)).epsilon(0.02));
    }
}

// Each host has two shares of a sum on its way to its neighbour at once. If they shared the link, both would arrive late: the
// step took 1.62 s without latency, 1.38 s with 1 us and 0.81 s with 44 us.
TEST_CASE("messages of one host go over its link in turn, so a step of hsgd does not depend on the latency")
{
  const auto with_latency = [](const std::string& latency) {
    return step_s("--strategy hsgd --workers 8 --nodes 8 --period 2 --steps 6 --allreduce ring --scale 0.02 --compute 0.05 "
                  "--bandwidth 11.6MB/s --latency " +
                  latency);
  };
  const double without_s = with_latency("0us");
  CHECK(without_s == Approx(0.805).epsilon(0.01));
  for (const auto* latency : {"1us", "44us"}) CHECK(with_latency(latency) == Approx(without_s).epsilon(0.01));
}

TEST_CASE("the first chunks of a tree arrive before the last ones are sent")
{
  // Rank 0 receives the vector twice and sends it twice: 33.9 ms. With shared links it took 41.4 ms.
  CHECK(sum_s("--algorithm tree --nodes 4 --bytes 1048576 --bandwidth 123.6MB/s --latency 7.6us") ==
        Approx(4 * 1.048576 / 123.6).epsilon(0.02));
}

TEST_CASE("a rank is busy with each message that it sends and each that it receives")
{
  const std::string words = "--nodes 2 --bytes 64 --latency 10us";
  // Two rounds of the ring, each a message out and one in.
  CHECK(sum_s(words + " --message-time 1ms") - sum_s(words) == Approx(4e-3).epsilon(0.01));
}

TEST_CASE("strategies know the supernodes of their platform")
{
  const auto with = [](const std::string& allreduce) {
    return step_s("--nodes 32 --workers 32 --scale 0.1 --nodes-per-supernode 8 --trunk-share 0.05 --allreduce " + allreduce);
  };
  CHECK(with("topology-aware") < 0.5 * with("halving-doubling"));
}

TEST_CASE("one simulated sum is exact: others before or after it take the same time")
{
  for (const auto* algorithm : {"ring", "halving-doubling", "topology-aware"})
    CHECK(allreduce_s(algorithm, 24, " --repeats 3 --warm-up 2") == Approx(allreduce_s(algorithm, 24)).epsilon(1e-6));
}

TEST_CASE("a simulated dynamic uses at every size the algorithm that is fastest by dtsim's own times")
{
  for (const int nodes : {8, 11, 24})
    for (const auto* bytes : {"2048", "300000", "50000000"}) {
      const auto sum_us = [&](const std::string& algorithm) {
        return json_of("allreduce --message-time 2us --nodes-per-supernode 8 --trunk-share 0.25 --bandwidth 1GB/s --algorithm " +
                       algorithm + " --nodes " + std::to_string(nodes) + " --bytes " + bytes);
      };
      double best_us = 1e300;
      for (const auto* algorithm : {"ring", "halving-doubling", "tree", "topology-aware"})
        best_us = std::min(best_us, sum_us(algorithm).at("us_median").get<double>());
      const auto dynamic = sum_us("dynamic");
      INFO(dynamic.dump());
      CHECK(dynamic.at("us_median").get<double>() < 1.05 * best_us);
      CHECK_THAT(dynamic.at("choice").get<std::string>(), !Contains("mpi"));
      CHECK(dynamic == sum_us("dynamic"));
    }
}

TEST_CASE("a simulated step with dynamic is as fast as with the best allreduce that it may choose")
{
  const auto with = [](const std::string& allreduce) {
    return step_s("--strategy sync-sgd --workers 24 --nodes 24 --nodes-per-supernode 8 --trunk-share 0.25 --allreduce " +
                  allreduce);
  };
  CHECK(with("dynamic") < 1.05 * std::min({with("ring"), with("halving-doubling"), with("topology-aware")}));
}

TEST_CASE("equal simulations give equal output")
{
  const std::string words = "strategies --strategy async-easgd,sync-sgd --workers 4 --nodes 5 --allreduce ring --period 2 --json";
  const auto first = dtsim(words);
  REQUIRE(first.ok());
  CHECK(first.out == dtsim(words).out);
}

TEST_CASE("a thousand simulated ranks share one memory for their vectors")
{
  const auto result = json_of("allreduce --algorithm halving-doubling --nodes 1024 --bytes 400000000");
  CHECK(result.at("ranks") == 1024); // 1024 vectors of 400 MB would not fit
  CHECK(result.at("bytes_per_s").get<double>() == Approx(125e6).epsilon(0.05));
}

// SMPI counts a message's bytes with int, and copied what was longer: it took the memory of all vectors.
TEST_CASE("vectors of more than 2 GiB are sent in pieces that the simulator does not copy")
{
  for (const std::string algorithm : {"ring", "halving-doubling", "tree", "topology-aware"})
    CHECK(json_of("allreduce --nodes 4 --bytes 9000000000 --algorithm " + algorithm).at("bytes") == 9'000'000'000);
  for (const std::string strategy : {"sync-sgd --workers 3", "async-sgd --workers 2", "hogwild-easgd --workers 2"})
    CHECK(step_s("--nodes 3 --scale 20 --strategy " + strategy) > 50); // 5 GB of parameters
  rusage largest{};
  REQUIRE(getrusage(RUSAGE_CHILDREN, &largest) == 0);
  CHECK(largest.ru_maxrss < 1'000'000); // KiB
}

TEST_CASE("a server's simulated queue makes asynchronous workers slower than a synchronous sum of the same bytes")
{
  const auto rows = json_of("strategies --strategy async-sgd,sync-sgd --workers 8 --nodes 9 --allreduce ring --compute 0.01 "
                            "--scale 0.1");
  const double async_s = rows[0].at("step_s"), sync_s = rows[1].at("step_s");
  CHECK(async_s > 3 * sync_s);
  // Each of the 8 workers sends 25 MB to the server's link and takes as much from it, in both directions at once.
  CHECK(async_s > 8 * 24.95 / per_s);
}

TEST_CASE("what cannot be simulated is refused with exit code 2")
{
  const std::string no_vector = "is not possible here; a vector has 4 bytes for each number",
                    gloo = "which sends over TCP without MPI";
  for (const auto& [words, why] : std::vector<std::pair<std::string, std::string>>{
           {"allreduce --bandwidth 0Gbit/s", "1 Gbit/s"},
           {"allreduce --nodes 0", "number of nodes"},
           {"allreduce --algorithm mpi", "the MPI library's own algorithm"},
           {"allreduce --algorithm gloo", gloo},
           {"strategies --allreduce gloo", gloo},
           {"allreduce --bytes 0", no_vector},
           {"allreduce --bytes 3", no_vector},
           {"allreduce --bytes -4", no_vector},
           {"allreduce --bytes 4098", no_vector},
           {"allreduce --nodes 2 --bytes 200000000000", "A simulated vector has at most 32.0 GiB"},
           {"strategies --workers 4 --nodes 2", "4 workers needs 4 ranks, but there are 2"}}) {
    const auto end = dtsim(words);
    CHECK(end.exit_code == 2);
    CHECK(end.out.empty());
    CHECK_THAT(end.err, Contains(why));
  }
}

namespace {

// A step of diloco with four workers, 6.24 MB of parameters, a period of 4 steps and 100 ms of computation a step on 100 MB/s.
Json diloco_step(const std::string& more)
{
  return json_of("strategies --strategy diloco --workers 4 --nodes 4 --period 4 --steps 8 --scale 0.025 --allreduce ring "
                 "--compute 0.1 --bandwidth 100MB/s" +
                 more)
      .at(0);
}

double seconds_of(const Json& step) { return step.at("step_s").get<double>(); }

} // namespace

TEST_CASE("a simulated period of diloco sends every parameter once, in fragments or not, and int8 and int4 send fewer bytes")
{
  constexpr double sum = 2 * 3 * 62.4e6 * 0.025; // numbers that all four ranks send
  const auto bytes = [](const std::string& more) { return diloco_step(more).at("bytes_per_step").get<double>(); };
  CHECK(bytes("") == Approx(4 * sum / 4).epsilon(0.01));
  CHECK(bytes(" --fragments 4") == Approx(4 * sum / 4).epsilon(0.01));
  CHECK(bytes(" --fragments 2 --delay 2 --progress thread") == Approx(4 * sum / 4).epsilon(0.01));
  CHECK(bytes(" --wire int8") == Approx(260.0 / 256 * sum / 4).epsilon(0.01));
  CHECK(bytes(" --wire int4") == Approx(132.0 / 256 * sum / 4).epsilon(0.01));
}

TEST_CASE("a simulated exchange of diloco that is delayed hides behind the computation, and one without delay does not")
{
  // 2 x 3/4 of 6.24 MB over 100 MB/s take 94 ms, a quarter of it in each step of the period.
  const double at_once_s = seconds_of(diloco_step(""));
  CHECK(at_once_s > 0.1 + 0.02);
  CHECK(seconds_of(diloco_step(" --delay 2 --progress none")) == Approx(at_once_s).epsilon(0.03));
  CHECK(seconds_of(diloco_step(" --delay 2 --progress thread")) < 0.1 + 0.3 * (at_once_s - 0.1));
}
