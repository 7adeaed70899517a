// dtengine under the real mpirun: records of good and bad ends, claims on the attempt, killed ranks, full disks.
#include "core/spec/algorithms.hpp"
#include "core/text.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/running_job.hpp"
#include "tests/support/tiny_disk.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::EngineRun;
using dt::test::eventually;
using dt::test::is_running;
using dt::test::RunningJob;

namespace {

dt::RunSpec small_spec(std::int64_t ranks)
{
  auto spec = dt::test::small_lenet(ranks, 240);
  spec.train.global_batch = 24;
  spec.train.steps = 12;
  spec.train.warmup_steps = 2;
  return spec;
}

// A folder with 300 training and 100 test images.
std::string make_digits(const fs::path& folder)
{
  const auto path = (folder / "digits").string();
  REQUIRE(
      dt::run_command({dt::test::dtengine(), "data", "make", "digits", "--out", path, "--train", "300", "--test", "100"}).ok());
  return path;
}

bool has_gloo()
{
  return dt::run_command({dt::test::dtengine(), "--version"}).out.find("allreduce gloo: yes") != std::string::npos;
}

// Runs until somebody ends it.
dt::RunSpec endless_spec(std::int64_t ranks) { return dt::test::endless(small_spec(ranks)); }

} // namespace

TEST_CASE("a run leaves begin, events, heartbeat and a result")
{
  const EngineRun run(small_spec(2));
  const auto end = run.run(2);
  INFO(end.err);
  REQUIRE(end.ok());
  const auto begin = dt::read_begin(run.attempt());
  REQUIRE(begin);
  CHECK(begin->ranks == 2);
  CHECK(begin->nodes == 1);
  CHECK(begin->threads_per_rank == 1);
  CHECK(begin->host == dt::host_name());
  CHECK(begin->rank_hosts.size() == 2);
  CHECK(begin->environment.at("engine_build") == dt::read_build_id(dt::test::dtengine()));
  for (const auto* key : {"cpu_model", "cores", "memory_bytes", "kernel", "mpi_version", "dnnl_version", "compiler", "build_type",
                          "engine_version", "node_list"})
    CHECK_FALSE(begin->environment.at(key).empty());
  CHECK(begin->environment.at("launcher") == "mpirun");
  CHECK_THAT(begin->environment.at("mpi_settings"), Contains("mpi_yield_when_idle=1") && !Contains("orte"));
  const auto probe = dt::read_probe(run.attempt());
  REQUIRE(probe);
  CHECK(probe->ranks.size() == 2);
  CHECK(probe->unix_s >= begin->unix_s);
  CHECK_THAT(end.out, Contains("ranks 2, nodes 1, ") && Contains("rank 1 on " + dt::host_name() + ", cores "));
  CHECK(dt::parse_events(dt::read_file(run.attempt().events())).steps.size() == 12);
  CHECK(dt::parse_events(dt::read_file(run.attempt().events())).evals.size() == 2);
  CHECK(dt::read_heartbeat(run.attempt()));
  CHECK_FALSE(dt::read_error(run.attempt()));
  const auto result = dt::read_result(run.attempt());
  REQUIRE(result);
  CHECK(result->steps == 12);
  CHECK(result->ranks.size() == 2);
  CHECK(result->weights_hash.size() == 32);
  // LeNet's layers; the first one derives nothing by the images.
  CHECK(result->flops.per_sample == 2 * 235200 + 3 * (480000 + 96000 + 20160 + 1680));
  CHECK(result->flops.precision == "fp32");
  CHECK(result->flops.device == "cpu");
  CHECK(result->flops.matmul == Approx(5e8 * (probe->ranks[0].gemm_gflops + probe->ranks[1].gemm_gflops)));
}

TEST_CASE("an attempt records its algorithms, and a later one takes them and times nothing")
{
  auto spec = small_spec(2);
  spec.train.algorithms = dt::AlgorithmChoice::timed;
  const EngineRun run(spec);
  const dt::Algorithms recorded{{"conv1", {dt::Algorithm::channels_last, dt::Algorithm::direct, dt::Algorithm::direct}},
                                {"conv2", {dt::Algorithm::direct, dt::Algorithm::channels_last, dt::Algorithm::direct}}};
  dt::write_file_atomic(run.attempt(1).algorithms(), to_json(recorded));
  const auto end = run.run(2, 2);
  INFO(end.err);
  REQUIRE(end.ok());
  CHECK(dt::read_algorithms(run.attempt(2).algorithms()) == recorded);
  const auto fact = "as attempt 1 has recorded: " + dt::in_words(recorded);
  CHECK(dt::read_result(run.attempt(2))->facts.at("algorithms") == fact);
}

TEST_CASE("an attempt that cannot read the algorithms of an earlier one says which file, and what to do")
{
  auto spec = small_spec(1);
  spec.train.algorithms = dt::AlgorithmChoice::timed;
  const EngineRun run(spec);
  dt::write_file_atomic(run.attempt(1).algorithms(), "torn");
  const auto end = run.run(1, 2);
  CHECK(end.exit_code == 1);
  CHECK_THAT(end.err, Contains(run.attempt(1).algorithms().string() + ": This is not a list of algorithms.") &&
                          Contains("Put its content back, or remove the file: then this attempt chooses anew."));
}

TEST_CASE("a second start of the same attempt writes nothing and says why")
{
  const EngineRun run(small_spec(1));
  REQUIRE(run.run(1).ok());
  const auto listing = [&] {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(run.attempt().path()))
      files.push_back(entry.path().filename().string() + dt::read_file(entry.path()));
    std::sort(files.begin(), files.end());
    return files;
  };
  const auto before = listing();
  const auto again = run.run(1);
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.err, Contains(run.attempt().begin().string() + " exists"));
  CHECK(listing() == before);
}

TEST_CASE("a run planned for another build of the engine is refused")
{
  EngineRun run(small_spec(1));
  run.planned().engine_build = "0123456789";
  run.write_spec();
  CHECK(run.run(1).exit_code == 1);
  REQUIRE(dt::read_error(run.attempt()));
  CHECK_THAT(dt::read_error(run.attempt())->cause,
             Catch::StartsWith("This run was planned for engine build 0123456789, but this program is build "));
  CHECK_FALSE(fs::exists(run.attempt().result()));
}

TEST_CASE("another number of ranks than the spec's is refused")
{
  const EngineRun run(small_spec(3));
  CHECK(run.run(2).exit_code == 1);
  REQUIRE(dt::read_error(run.attempt()));
  CHECK(dt::read_error(run.attempt())->cause ==
        "The spec asks for 3 ranks (1 nodes of 3), but 2 were started. Check resources.launcher_args.");
}

TEST_CASE("more threads than cores in the mask are refused unless the recipe allows it")
{
  auto spec = small_spec(1);
  spec.resources.threads_per_rank = static_cast<std::int64_t>(dt::cores_in_mask().size()) + 1;
  spec.resources.oversubscribe = false;
  const EngineRun refused(spec);
  CHECK(refused.run(1).exit_code == 1);
  REQUIRE(dt::read_error(refused.attempt()));
  CHECK(dt::read_error(refused.attempt())->rank == 0);
  spec.resources.oversubscribe = true;
  CHECK(EngineRun(spec).run(1).ok());
}

TEST_CASE("labels that were replaced between planning and the start fail the run with both ids, and unchanged ones do not")
{
  auto spec = small_spec(2);
  spec.data.name = "digits";
  const dt::test::TemporaryFolder data;
  spec.data.path = make_digits(data.path());
  const auto planned = dt::data_id(spec.data, spec.data.path);
  const EngineRun unchanged(spec, planned), replaced(spec, planned);
  const auto end = unchanged.run(2);
  INFO(end.err);
  REQUIRE(end.ok());

  const auto labels = fs::path(spec.data.path) / "train-labels-idx1-ubyte";
  auto bytes = dt::read_file(labels);
  std::swap(bytes.at(bytes.size() - 1), bytes.at(bytes.size() - 2));
  if (bytes == dt::read_file(labels)) bytes.back() = static_cast<char>(bytes.back() == 0 ? 1 : 0);
  const auto written = fs::last_write_time(labels);
  dt::write_file_atomic(labels, bytes);
  fs::last_write_time(labels, written); // equal in size and time
  CHECK(replaced.run(2).exit_code == 1);
  const auto error = dt::read_error(replaced.attempt());
  REQUIRE(error);
  CHECK(error->rank == 0);
  CHECK(error->cause == "data set digits: " + spec.data.path + " has other content than when this run was planned: " +
                            dt::data_id(spec.data, spec.data.path) + " now, " + planned +
                            " then. Put the old content back and retry, or submit the recipe again: it becomes a new run.");
  CHECK_FALSE(fs::exists(replaced.attempt().result()));
  CHECK(dt::read_file_if_exists(replaced.attempt().events()).value_or("").empty());
}

TEST_CASE("a spec that was altered after its run was planned is refused with both keys")
{
  const EngineRun run(small_spec(1));
  const auto path = dt::spec_path(run.attempt().run_folder());
  auto altered = run.planned();
  altered.spec.optimizer.learning_rate *= 2;
  dt::write_file_atomic(path, dt::to_json(altered));
  const auto key = dt::plan_run(altered.spec, altered.engine_build, altered.data_id).key;
  const auto end = run.run(1);
  CHECK(end.exit_code == 1);
  CHECK_THAT(end.err, Contains(path.string() + " was altered after the run was planned: its key is " + run.planned().key +
                               ", but its content has the key " + key + "."));
  CHECK_FALSE(fs::exists(run.attempt().begin()));
}

TEST_CASE("an error on one rank is recorded with rank, host, cause and ends the world without a result")
{
  auto spec = small_spec(2);
  spec.data.name = "digits";
  const dt::test::TemporaryFolder data;
  const auto folder = make_digits(data.path()), missing = (data.path() / "missing").string();
  const EngineRun run(spec, dt::data_id(spec.data, folder));
  // Rank 0 has the data; rank 1 looks in the wrong place.
  auto words = EngineRun::launch(1);
  for (const auto& word : run.engine()) words.push_back(word);
  for (const std::string word : {"--data", folder.c_str(), ":", "-np", "1"}) words.push_back(word);
  for (const auto& word : run.engine()) words.push_back(word);
  words.insert(words.end(), {"--data", missing});
  const auto end = dt::run_command(words, 120);
  CHECK(end.exit_code == 1);
  const auto error = dt::read_error(run.attempt());
  REQUIRE(error);
  CHECK(error->rank == 1);
  CHECK(error->host == dt::host_name());
  CHECK_THAT(error->cause, Contains(missing));
  CHECK_THAT(end.err, Contains(error->cause));
  CHECK_FALSE(fs::exists(run.attempt().result()));
}

TEST_CASE("a last evaluation that is NaN or infinite is no result, though each step's loss was finite")
{
  auto spec = small_spec(2);
  spec.train.warmup_steps = 0;
  spec.train.steps = 1; // its loss is that of the first weights
  spec.optimizer.learning_rate = 1e30;
  const EngineRun run(spec);
  CHECK(run.run(2).exit_code == 1);
  const auto error = dt::read_error(run.attempt());
  REQUIRE(error);
  CHECK(error->step == 1);
  CHECK_THAT(error->cause, Contains("held-out set"));
  CHECK_FALSE(fs::exists(run.attempt().result()));
}

TEST_CASE("a rank killed with SIGKILL takes the others with it and leaves no result")
{
  const bool kill_root = GENERATE(false, true);
  const std::string allreduce = GENERATE("mpi", "gloo");
  if (allreduce == "gloo" && !has_gloo()) return;
  auto spec = endless_spec(2);
  spec.sync.allreduce = allreduce;
  const EngineRun run(spec);
  RunningJob job(run, 2);
  REQUIRE(job.ranks.size() == 2);
  REQUIRE(::kill(kill_root ? job.root : dt::test::other_than_root(job), SIGKILL) == 0);
  const auto end = dt::test::end_of(job);
  CHECK(end.exit_code != 0);
  CHECK_THAT(end.err + end.out, Contains("signal 9"));
  CHECK(eventually([&] { return std::none_of(job.ranks.begin(), job.ranks.end(), is_running); }));
  CHECK_FALSE(fs::exists(run.attempt().result()));
  CHECK_FALSE(dt::read_error(run.attempt())); // no rank blames the connection that the killed one closed
  CHECK(dt::read_heartbeat(run.attempt())->step > 0);
}

TEST_CASE("SIGTERM to mpirun ends every rank and leaves nothing false")
{
  const EngineRun run(endless_spec(2));
  RunningJob job(run, 2);
  REQUIRE(job.ranks.size() == 2);
  REQUIRE(::kill(job.mpirun, SIGTERM) == 0);
  CHECK(dt::test::end_of(job).exit_code != 0);
  CHECK(eventually([&] { return std::none_of(job.ranks.begin(), job.ranks.end(), is_running); }));
  CHECK_FALSE(fs::exists(run.attempt().result()));
  CHECK_FALSE(fs::exists(run.attempt().error()));
}

TEST_CASE("a disk that fills up ends the run with the file's name on stderr and no result")
{
  const EngineRun run(endless_spec(1));
  const dt::test::TinyDisk disk(run.attempt().path(), 128 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: mounting a small file system needs root");
    return;
  }
  const auto end = run.run(1);
  CHECK(end.exit_code == 1);
  CHECK_THAT(end.err, Contains("write " + run.attempt().events().string() + ": No space left on device"));
  CHECK_FALSE(fs::exists(run.attempt().result()));
}

TEST_CASE("a run folder that cannot be written is a clear error")
{
  const EngineRun run(small_spec(1));
  fs::remove_all(run.attempt().path());
  dt::write_file_atomic(run.attempt().path(), "a file where the folder should be");
  const auto end = run.run(1);
  CHECK(end.exit_code == 1);
  CHECK_THAT(end.err, Contains("create " + run.attempt().begin().string() + ": Not a directory"));
}

TEST_CASE("a run with the allreduce gloo trains and records what a ring sends, or is refused where Gloo is not built in")
{
  auto spec = small_spec(2);
  spec.sync.allreduce = "gloo";
  const EngineRun run(spec);
  const auto end = run.run(2);
  INFO(end.err);
  if (!has_gloo()) {
    CHECK_THAT(dt::read_error(run.attempt())->cause, Contains("Install libgloo-dev"));
    return;
  }
  REQUIRE(end.ok());
  spec.sync.allreduce = "ring";
  const EngineRun ring(spec);
  REQUIRE(ring.run(2).ok());
  const auto result = dt::read_result(run.attempt()), expected = dt::read_result(ring.attempt());
  REQUIRE((result && expected));
  CHECK(result->ranks[0].bytes_sent == expected->ranks[0].bytes_sent);
  CHECK(result->final_loss == Approx(expected->final_loss.value()).epsilon(1e-4));
}

TEST_CASE("a missing or damaged spec is an error that names the file")
{
  const EngineRun run(small_spec(1));
  const auto path = dt::spec_path(run.attempt().run_folder());
  dt::write_file_atomic(path, "{");
  CHECK_THAT(run.run(1).err, Contains(path.string() + " is not a run's spec"));
  fs::remove(path);
  CHECK_THAT(run.run(1).err, Contains("read " + path.string()));
}

TEST_CASE("dtengine tells its version and build, and refuses a wrong command line with status 2")
{
  const auto version = dt::run_command({dt::test::dtengine(), "--version"});
  CHECK(version.ok());
  CHECK_THAT(version.out, Contains(dt::read_build_id(dt::test::dtengine())));
  CHECK_THAT(version.out, Contains("\nallreduce gloo: yes\n") || Contains("\nallreduce gloo: no, "));
  CHECK(dt::run_command({dt::test::dtengine(), "train"}).exit_code == 2);
  CHECK(dt::run_command({dt::test::dtengine()}).exit_code == 2);
}
