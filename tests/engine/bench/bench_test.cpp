// dtbench's results as programs read them.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/spec/compute_profile.hpp"
#include "core/text.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;
using Catch::Contains;

namespace {

const std::string dtbench = DTCTL_BINARY_DIR "/bin/dtbench";

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

std::string keys_of(const Json& json)
{
  Words keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return dt::join(keys, " ");
}

// dtbench with these words, of which none holds a blank; ranks: it is started by mpirun.
dt::CommandResult run_bench(const std::string& words, int ranks = 0)
{
  auto command = ranks > 0 ? dt::test::EngineRun::launch(ranks) : Words{};
  command.push_back(dtbench);
  for (auto& word : dt::split(words, ' ')) command.push_back(std::move(word));
  return dt::run_command(command, 60);
}

// What it prints as JSON.
Json bench(const std::string& words, int ranks = 0)
{
  const auto end = run_bench(words + " --json", ranks);
  INFO(end.err);
  REQUIRE(end.ok());
  return Json::parse(end.out);
}

double number(const Json& json, const char* key) { return json.at(key).get<double>(); }

} // namespace

TEST_CASE("dtbench compute --json prints one object whose rate is batch over median step")
{
  const auto json = bench("compute --batch 8 --seconds 0.01");
  CHECK(keys_of(json) ==
        "model batch threads precision samples_per_s step_ms_median step_ms_min gflops peak_gflops peak_share "
        "core_latency_ns primitive_share reorders_per_step peak_memory_bytes loss steps ranks build_s onednn_share "
        "forward_ms backward_ms optimizer_ms planned_bytes unshared_bytes winograd choice choice_s algorithms");
  CHECK(number(json, "peak_share") * number(json, "peak_gflops") == Approx(number(json, "gflops")));
  CHECK(number(json, "onednn_share") <= number(json, "primitive_share"));
  CHECK(number(json, "primitive_share") <= 1);
  CHECK(number(json, "planned_bytes") < number(json, "peak_memory_bytes"));
  CHECK(number(json, "samples_per_s") == Approx(8e3 / number(json, "step_ms_median")));
  CHECK(number(json, "step_ms_min") <= number(json, "step_ms_median"));
  CHECK(number(json, "optimizer_ms") <= number(json, "step_ms_median"));
  CHECK(json["steps"].get<int>() >= 10);
}

TEST_CASE("dtbench compute measures as many steps as it is told, and how far the cores of two threads are from each other")
{
  const auto with_threads = [](const std::string& threads) { return bench("compute --batch 2 --steps 3 --threads " + threads); };
  const auto one = with_threads("1");
  CHECK(one["steps"] == 3);
  CHECK(number(one, "core_latency_ns") == 0);
  CHECK(number(with_threads("2"), "core_latency_ns") > 1); // less than a core needs to read its own second-level cache
}

TEST_CASE("dtbench compute --profile has a row for every operation, as many reorders among them as are told")
{
  const std::string words = "compute --batch 2 --steps 2 --profile";
  const auto json = bench(words);
  int reorders = 0, backward_weights = 0;
  for (const auto& row : json["profile"]) {
    CHECK(keys_of(row) == "layer what kernel reorder ms gflops");
    reorders += row["reorder"].get<bool>() ? 1 : 0;
    backward_weights += row["what"] == "backward weights" ? 1 : 0;
  }
  CHECK(reorders == json["reorders_per_step"]);
  CHECK(backward_weights == 5);
  CHECK_THAT(run_bench(words).out, Contains("conv2 ") && Contains("backward weights") && Contains("reorders"));
}

namespace {

std::vector<std::string> layers_of_model(const std::string& model)
{
  const auto json = Json::parse(dt::run_command({dt::test::dtengine(), "model", model, "--json"}, 60).out);
  std::vector<std::string> names;
  for (const auto& layer : json["layers"]) names.push_back(layer["name"]);
  return names;
}

std::vector<std::string> names_in(const dt::ComputeProfile& profile)
{
  std::vector<std::string> names;
  for (const auto& layer : profile.layers) names.push_back(layer.name);
  return names;
}

} // namespace

TEST_CASE("what dtbench compute --profile --json prints is a compute profile of the model's layers")
{
  const auto json = bench("compute --batch 2 --steps 64 --profile");
  const auto profile = dt::parse_compute_profile(json.dump(), "lenet.json");
  CHECK(profile.model == "lenet");
  CHECK(profile.image == "1x28x28");
  CHECK(profile.classes == 10);
  CHECK(profile.batch == 2);
  CHECK(profile.threads == 1);
  CHECK(profile.precision == "fp32");
  CHECK(profile.host == dt::host_name());
  CHECK_FALSE(profile.processor.empty());
  CHECK(profile.steps == 64);
  CHECK(profile.step_quantiles.size() == 65);
  CHECK(profile.step_quantiles[32] == 1);
  CHECK(profile.node_spread == 0);
  CHECK(profile.processes == 1);
  CHECK(names_in(profile) == layers_of_model("lenet"));
  const double rounding_s = 1e-9 * static_cast<double>(profile.layers.size());
  CHECK(profile.forward_s() == Approx(1e-3 * number(json, "forward_ms")).margin(rounding_s));
  CHECK(profile.backward_s() == Approx(1e-3 * number(json, "backward_ms")).margin(rounding_s));
  CHECK(profile.update_s == Approx(1e-3 * number(json, "optimizer_ms")).margin(1e-9));
  for (const auto& layer : profile.layers) CHECK((layer.forward_s == 0) == layer.name.starts_with("relu")); // fused with others
  for (const auto& layer : profile.layers) CHECK(layer.backward_s > 0);
}

TEST_CASE("a compute profile has the layers of dropout, and --profile-file writes it alone")
{
  const dt::test::TemporaryFolder folder;
  const auto file = (folder.path() / "profile.json").string();
  const auto json = bench("compute --model alexnet-cifar --batch 2 --steps 2 --profile --profile-file " + file);
  const auto profile = dt::parse_compute_profile(dt::read_file(file), file);
  CHECK(names_in(profile) == layers_of_model("alexnet-cifar"));
  for (const auto& layer : profile.layers)
    if (layer.name.starts_with("dropout")) CHECK((layer.forward_s > 0 && layer.backward_s > 0));
  CHECK(to_json(dt::parse_compute_profile(json.dump(), "stdout")) == dt::read_file(file));
}

TEST_CASE("a compute profile measured by several ranks tells how their medians differ")
{
  const auto json = bench("compute --batch 2 --steps 10 --profile", 3);
  const auto profile = dt::parse_compute_profile(json.dump(), "lenet.json");
  CHECK(profile.processes == 3);
  CHECK(profile.node_spread > 0);
  CHECK(profile.steps == 10);
  CHECK(profile.host == dt::host_name());
  CHECK(names_in(profile) == layers_of_model("lenet"));
}

TEST_CASE("dtbench convolution --json has each convolution's directions and their sums, with our factor over every other form")
{
  const auto json = bench("convolution --model lenet --rounds 1");
  REQUIRE(json.size() == 1);
  CHECK_THAT(json[0]["blas"].get<std::string>(), Contains("OpenBLAS"));
  std::map<std::string, double> ms;
  for (const auto& row : json[0]["rows"]) {
    ms[row["layer"].get<std::string>() + " " + row["what"].get<std::string>()] = row["plain"]["ms"];
    for (const auto* form : {"im2col_blas", "im2col_blas_by_image", "plain"}) {
      CHECK(number(row[form], "factor") == Approx(number(row[form], "ms") / number(row, "ms")));
      CHECK(row[form]["least"] == row[form]["most"]);
    }
  }
  REQUIRE(ms.size() == 9); // the first layer's images get no gradient
  CHECK(ms["all backward weights"] == Approx(ms["conv1 backward weights"] + ms["conv2 backward weights"]));
  CHECK(ms["all backward data"] == Approx(ms["conv2 backward data"]));
  CHECK(ms["all convolutions"] == Approx(ms["all forward"] + ms["all backward weights"] + ms["all backward data"]));
}

TEST_CASE("dtbench convolution refuses to compare threads with OpenBLAS' on fewer cores than threads")
{
  const auto end = dt::run_command({"taskset", "-c", "0", dtbench, "convolution", "--model", "lenet", "--threads", "2"}, 60);
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.err, Contains("OMP_PROC_BIND"));
}

TEST_CASE("dtbench compute started by mpirun is one training on all ranks, told by rank 0 alone")
{
  const std::string words = "compute --batch 4 --steps 10";
  const auto json = bench(words, 2);
  CHECK(json["ranks"] == 2);
  CHECK(number(json, "samples_per_s") == Approx(8e3 / number(json, "step_ms_median")));
  CHECK(json["loss"] == bench(words)["loss"]); // equal samples on both ranks: the mean of their gradients is that of one
}

TEST_CASE("dtbench allreduce --json prints one object, from rank 0 alone")
{
  const auto json = bench("allreduce --bytes 4000 --seconds 0.01", 2);
  CHECK(keys_of(json) == "algorithm ranks bytes repeats us_median us_min bytes_per_s");
  CHECK(json["ranks"] == 2);
  CHECK(json["bytes"] == 4000);
}

TEST_CASE("dtbench strategies --json prints a row a strategy, with bytes as counted")
{
  const auto rows = bench("strategies --scale 0.0001 --compute 0.001 --steps 2", 2);
  REQUIRE(rows.size() == 1);
  CHECK(keys_of(rows[0]) == "strategy step_s communication_s exposed_share isolated_s update_s bytes_per_step messages_per_step");
  CHECK(rows[0]["strategy"] == "sync-sgd");
  // Two ranks of a bandwidth-optimal sum each send once what the packed buffer holds: 62.4 million / 10^4 parameters and padding.
  CHECK(number(rows[0], "bytes_per_step") / 2 == Approx(4 * 6238).margin(16 * 64));
  CHECK(number(rows[0], "step_s") >= 0.001);
}

TEST_CASE("dtbench comm --json prints a row for each size and allreduce, after all of them summed right")
{
  const auto json = bench("comm --algorithms mpi,ring,ring:bfloat16,tree --least 1000 --most 120000 --factor 120 --repeats 2", 3);
  REQUIRE(json["rows"].size() == 8);
  for (const auto& row : json["rows"]) CHECK(number(row, "us_low") <= number(row, "us_high"));
  CHECK(json["rows"][0]["against_mpi"] == 1.0);
  // 2 n (P-1)/P from each of 3 ranks, and half of it as bfloat16.
  CHECK(json["rows"][5]["algorithm"] == "ring");
  CHECK(json["rows"][5]["sent_bytes"] == 4 * 120000);
  CHECK(json["rows"][6]["sent_bytes"] == 2 * 120000);
}

TEST_CASE("dtbench comm measures Gloo's ring as the allreduce gloo, and its other algorithms without counting")
{
  const auto end = run_bench("comm --algorithms gloo,gloo-bcube,gloo-halving-doubling --sizes 120000 --repeats 2 --json", 3);
  if (end.err.find("built without Gloo") != std::string::npos) return;
  INFO(end.err);
  REQUIRE(end.ok());
  const auto rows = Json::parse(end.out)["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["sent_bytes"] == 4 * 120000);
  CHECK(rows[0]["messages"] == 3 * 4);
  CHECK_FALSE(rows[1].contains("sent_bytes"));
  CHECK_FALSE(rows[2].contains("sent_bytes"));
}

TEST_CASE("dtbench overlap --json prints a row for each way to move messages on")
{
  const auto rows = bench("overlap --scale 0.001 --forward 0.001 --backward 0.01 --steps 2 --sleep", 2);
  REQUIRE(rows.size() == 3);
  CHECK(keys_of(rows[0]) == "progress step_s alone_s isolated_s exposed_s hidden_s bound_s hidden_share");
  CHECK(rows[0]["progress"] == "none");
  CHECK(rows[0]["bound_s"] == 0);
  CHECK(rows[2]["progress"] == "thread");
  for (const auto& row : rows) CHECK(number(row, "hidden_s") == Approx(number(row, "isolated_s") - number(row, "exposed_s")));
}

TEST_CASE("dtbench names the known models and algorithms when it knows none of that name, and refuses a batch beyond memory")
{
  for (const auto& [words, why] : std::vector<std::pair<std::string, std::string>>{
           {"compute --model lenett", "lenet"},
           {"compute --model vgg16 --batch 2000", "vgg16 with batches of 2000"}, // 122 GiB
           {"allreduce --algorithm rong", "did you mean `ring`?"}}) {
    const auto end = run_bench(words);
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.err, Catch::StartsWith("dtbench: ") && Contains(why));
  }
}

namespace {

// `scripts/measure peers` on programs that only say what they would have measured: PyTorch's are quickest with SkylakeX's
// kernels, channels-last and the tuned allocator.
struct FakePeers {
  // torch: its file, and whether it has torch.compile.
  explicit FakePeers(const std::string& their_gflops, const std::string& package_state = "install ok installed",
                     const std::string& torch = "/usr/lib/python3/dist-packages/torch/__init__.py False")
  {
    fs::create_directory(folder.path() / "bin");
    write("bin/dtbench", "#!/bin/sh\necho '{\"samples_per_s\": 120, \"loss\": 1, \"gflops\": 100}'\n");
    write("dpkg-query", "#!/bin/sh\nprintf '%s' '" + package_state + "'\n");
    write("python",
          "#!/bin/sh\nspeed=10\n[ \"$1\" = -c ] && { echo '" + torch +
              "'; exit; }\n"
              "[ \"$OPENBLAS_CORETYPE\" = Haswell ] && gflops=1 || gflops=" +
              their_gflops +
              "\n"
              "[ \"$OPENBLAS_CORETYPE\" = SkylakeX ] && { speed=$((speed + 30)); gflops=$((gflops + 1)); }\n"
              "[ -n \"$OPENBLAS_L2_SIZE\" ] && exit 1\n" // what is preset is tried too, and may fail
              "[ -n \"$GLIBC_TUNABLES\" ] && speed=$((speed + 10))\n"
              "for word; do [ \"$word\" = --channels-last ] && speed=$((speed + 10)); [ \"$word\" = --compile ] && "
              "speed=$((speed + 20)); done\n"
              "echo \"{\\\"samples_per_s\\\": $speed, \\\"loss\\\": 2, \\\"gflops\\\": $gflops}\"\n");
  }
  void write(const std::string& name, const std::string& text) const
  {
    dt::write_file_atomic(folder.path() / name, text);
    fs::permissions(folder.path() / name, fs::perms::owner_all);
  }
  dt::CommandResult run(const Words& more = {}) const
  {
    Words command{"env",
                  "PATH=" + folder.path().string() + ":/usr/bin:/bin",
                  "OPENBLAS_CORETYPE=Haswell",
                  "OPENBLAS_L2_SIZE=512",
                  DTCTL_SOURCE_DIR "/scripts/measure",
                  "peers",
                  "--rows",
                  "lenet",
                  "--rounds",
                  "1",
                  "--build",
                  folder.path().string(),
                  "--python",
                  (folder.path() / "python").string()};
    command.insert(command.end(), more.begin(), more.end());
    return dt::run_command(command, 60);
  }
  dt::test::TemporaryFolder folder;
};

} // namespace

TEST_CASE("scripts/measure peers takes PyTorch's quickest setting and names it with both rates of matrix products")
{
  const auto end = FakePeers("49").run();
  INFO(end.out << end.err);
  REQUIRE(end.ok());
  CHECK_THAT(end.out, Contains("| lenet | ours | pytorch | 120.0 | 60.0 | 2.00 [2.00, 2.00] | 1 | 2 | SkylakeX, channels-last, "
                               "tuned allocator | 100 / 50 |"));
}

TEST_CASE("scripts/measure peers compiles where PyTorch can, takes one with a BLAS of its own, and rows with other threads")
{
  const auto end = FakePeers("49", "unknown ok not-installed", "/opt/torch/__init__.py True").run({"--threads", "2"});
  INFO(end.out << end.err);
  REQUIRE(end.ok());
  CHECK_THAT(end.out,
             Contains("| lenet, 2 threads | ours | pytorch | 120.0 | 80.0 |") && Contains("tuned allocator, compiled |"));
}

TEST_CASE("scripts/measure peers compares nothing with a PyTorch whose matrix products are below a third of ours")
{
  const auto slow = FakePeers("3").run();
  CHECK(slow.exit_code == 2);
  CHECK(slow.out.empty());
  CHECK_THAT(slow.err, Contains("at 4 GFLOP/s on 1 thread (SkylakeX, plain layout, plain allocator), we at 100"));
  const auto missing = FakePeers("49", "unknown ok not-installed").run();
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.err, Contains("apt-get install --no-install-recommends python3-torch libopenblas0-pthread"));
}

TEST_CASE("dtbench compute --algorithms timed says its choice, and a second call takes it from the cache")
{
  const dt::test::TemporaryFolder folder;
  const auto call = [&] { return bench("compute --batch 16 --steps 2 --algorithms timed --cache " + folder.path().string()); };
  const auto first = call();
  CHECK(first["choice"] == "timed");
  REQUIRE(first["algorithms"].size() == 2);
  CHECK(first["algorithms"][0].get<std::string>().starts_with("conv1 "));
  // If the second call timed again, it would find the first one's choice, and not the other one that is put into the cache.
  const auto other = first["algorithms"][0].get<std::string>().ends_with("image-lanes") ? "direct direct direct"
                                                                                        : "image-lanes image-lanes image-lanes";
  const fs::path file = fs::directory_iterator(folder.path())->path();
  CHECK(file.filename().string().starts_with("algorithms-"));
  dt::write_file_atomic(
      file, nlohmann::json{{"schema", 1}, {"algorithms", {std::string("conv1 ") + other, std::string("conv2 ") + other}}}.dump());
  CHECK(call()["algorithms"][0] == std::string("conv1 ") + other);
}
