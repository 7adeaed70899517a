// tests/cluster/testbed: real hosts with shaped links, and dtctl on them through the profile that it prints.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/cluster/playground.hpp"
#include "tests/e2e/python.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <catch2/catch.hpp>

#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::test;

namespace fs = std::filesystem;

namespace {

const std::string testbed_program = DTCTL_SOURCE_DIR "/tests/cluster/testbed";
const std::string link_stream = DTCTL_BINARY_DIR "/tests/link_stream";

struct Traffic {
  std::int64_t sent = 0, received = 0;
};

// A testbed in a folder of its own; gone with the object, whatever the test did to it.
class Testbed {
 public:
  // Not up yet.
  Testbed() = default;
  explicit Testbed(const Words& options)
  {
    Words verb{"up", "--owner", std::to_string(::getpid())};
    verb.insert(verb.end(), options.begin(), options.end());
    INFO("testbed " << join(verb, " "));
    REQUIRE(call(verb).err == "");
  }
  Testbed(const Testbed&) = delete;
  Testbed& operator=(const Testbed&) = delete;
  ~Testbed() { call({"down"}); }

  CommandResult call(const Words& verb) const { return run_command(words(verb), 60); }
  // What the verb prints; fails the test when the verb fails.
  std::string tell(const Words& verb) const
  {
    const auto result = call(verb);
    INFO("testbed " << join(verb, " ") << ": " << result.err);
    REQUIRE(result.ok());
    return result.out;
  }
  // Starts the verb and does not wait.
  pid_t start(const Words& verb) const
  {
    auto line = words(verb);
    std::vector<char*> argv;
    for (auto& word : line) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(126);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    return child;
  }

  fs::path folder() const { return folder_.path() / "bed"; }
  // What namespaces and links of it are named with; empty when it has not chosen yet.
  std::string prefix() const
  {
    for (const auto& line : split(read_file_if_exists(folder() / "settings").value_or(""), '\n'))
      if (line.starts_with("prefix=")) return line.substr(7);
    return {};
  }
  std::map<std::string, Traffic> counters() const
  {
    std::map<std::string, Traffic> all;
    for (const auto& line : split(trim(tell({"counters"})), '\n')) {
      const auto word = split(line, ' ');
      REQUIRE(word.size() == 3);
      all[word[0]] = {std::stoll(word[1]), std::stoll(word[2])};
    }
    return all;
  }
  std::int64_t trunk_bytes() const { return std::stoll(tell({"trunk-bytes"})); }
  // Processes on the hosts, those that hold them among them.
  std::vector<pid_t> processes() const
  {
    std::vector<pid_t> pids;
    for (const auto& name : namespaces(prefix()))
      for (const auto& line : split(trim(run_command({"ip", "netns", "pids", name}).out), '\n'))
        if (!line.empty()) pids.push_back(std::stoi(line));
    return pids;
  }
  static Words namespaces(const std::string& prefix)
  {
    Words names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/run/netns", none))
      if (entry.path().filename().string().starts_with(prefix + "-")) names.push_back(entry.path().filename().string());
    return names;
  }

 private:
  Words words(const Words& verb) const
  {
    Words words{"env", "DTCTL_TESTBED=" + folder().string(), testbed_program};
    words.insert(words.end(), verb.begin(), verb.end());
    return words;
  }
  TemporaryFolder folder_;
};

// Nothing of a testbed with that prefix is left: no namespace, no link, no folder, none of those processes.
bool is_gone(const Testbed& bed, const std::string& prefix, const std::vector<pid_t>& processes = {})
{
  const auto runs = [](pid_t pid) { return identify_process(pid).has_value(); };
  return Testbed::namespaces(prefix).empty() && !fs::exists("/sys/class/net/" + prefix + "-wire") && !fs::exists(bed.folder()) &&
         std::none_of(processes.begin(), processes.end(), runs);
}

// The bytes and seconds of link_stream's line.
double seconds_in(const std::string& line)
{
  const auto at = line.find(" bytes in ");
  REQUIRE(at != std::string::npos);
  return std::stod(line.substr(at + 10));
}

// dtctl as a user who has put the testbed's profile into the configuration.
class TestbedUser {
 public:
  explicit TestbedUser(const Testbed& bed)
  {
    fs::create_directories(dtctl_.folder() / "config" / "dtctl");
    write_file_atomic(dtctl_.folder() / "config" / "dtctl" / "config.yaml", bed.tell({"profile"}));
  }
  // LeNet on synthetic images with that many steps, 2 hosts x 2 ranks.
  Json submit(std::int64_t steps, const Words& more = {}) const
  {
    dtctl_.write("recipe.yaml", cluster_recipe(steps, "resources: {nodes: 2, ranks_per_node: 2, oversubscribe: true}\n"));
    Words words{"submit", "recipe.yaml", "--profile", "testbed"};
    words.insert(words.end(), more.begin(), more.end());
    return dtctl_.json(words);
  }
  fs::path run() const
  {
    const auto runs = dtctl_.home() / "runs";
    REQUIRE(std::distance(fs::directory_iterator(runs), fs::directory_iterator()) == 1);
    return fs::directory_iterator(runs)->path();
  }
  const Dtctl& dtctl() const { return dtctl_; }

 private:
  Dtctl dtctl_;
};

} // namespace

TEST_CASE("MPI sees the testbed's hosts as nodes, and what ran is gone with them")
{
  const Testbed bed({"--hosts", "3"});
  CHECK(bed.tell({"exec", "host1", "hostname"}) == "host1\n");
  CHECK(bed.tell({"run", "6", link_stream, "1000"}).starts_with("6 ranks on 3 nodes, "));
  CHECK(bed.tell({"run", "--hosts", "2", "--ranks-per-host", "2", link_stream, "1000"}).starts_with("4 ranks on 2 nodes, "));
  bed.start({"run", "4", "sleep", "600"});
  // On each host: the holder, mpirun's daemon, and a rank; one host has two.
  REQUIRE(eventually([&] { return bed.processes().size() == 10; }, 30));
  const auto prefix = bed.prefix();
  const auto processes = bed.processes();
  REQUIRE(bed.call({"down"}).ok());
  CHECK(is_gone(bed, prefix, processes));
  CHECK(bed.call({"down"}).ok());
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_CASE("a link lets no more through than was asked, and its bytes are counted")
{
  const Testbed bed({"--hosts", "2", "--rate", "200mbit"});
  constexpr double bytes = 5e6;
  const auto line = bed.tell({"run", "2", link_stream, fmt::format("{}", bytes)});
  // However busy the machine is, it cannot be sooner; a twentieth is what a bucket that was full lets pass at once.
  CHECK(seconds_in(line) > 0.95 * bytes * 8 / 200e6);
  const auto traffic = bed.counters();
  for (const double counted : {double(traffic.at("host0").sent), double(traffic.at("host1").received)}) {
    CHECK(counted > bytes);
    CHECK(counted < 1.1 * bytes);
  }
  CHECK(double(traffic.at("host1").sent) < 0.1 * bytes); // acknowledgements
  CHECK(bed.trunk_bytes() == 0);
}

TEST_CASE("connections between hosts have the congestion control that was asked for, whatever the machine's own is")
{
  for (const Words& options : {Words{}, Words{"--congestion", "reno"}}) {
    Words up{"--hosts", "2", "--rate", "50mbit"};
    up.insert(up.end(), options.begin(), options.end());
    const Testbed bed(up);
    const std::string wanted = options.empty() ? "cubic" : options.back();
    const pid_t run = bed.start({"run", "2", link_stream, "100000000"});
    // A connection between the hosts exists only while the ranks run.
    CHECK(eventually(
        [&] {
          return bed.tell({"exec", "host0", "ss", "-tinH", "dst", "host1"}).find(wanted) != std::string::npos;
        },
        30));
    ::kill(run, SIGKILL);
    ::waitpid(run, nullptr, 0);
  }
}

TEST_CASE("what goes from one supernode to the other crosses the trunk at the trunk's rate, and nothing else does")
{
  const Testbed bed({"--hosts", "4", "--supernodes", "2", "--trunk", "100mbit"});
  constexpr double bytes = 3e6;
  bed.tell({"run", "--hosts", "2", "2", link_stream, fmt::format("{}", bytes)});
  CHECK(double(bed.trunk_bytes()) < 0.01 * bytes);
  const auto line = bed.tell({"run", "4", link_stream, fmt::format("{}", bytes)});
  CHECK(seconds_in(line) > 0.95 * bytes * 8 / 100e6);
  CHECK(double(bed.trunk_bytes()) > bytes);
  CHECK(double(bed.trunk_bytes()) < 1.1 * bytes);
  const auto traffic = bed.counters();
  CHECK(double(traffic.at("trunk0").sent) ==
        Approx(double(traffic.at("trunk1").received)).epsilon(0.01)); // but for what is on its way
  CHECK(traffic.at("trunk0").sent > traffic.at("trunk1").sent);
}

TEST_CASE("links with a latency delay all that passes, have no bucket, and count what crosses a trunk")
{
  const Testbed bed({"--hosts", "4", "--supernodes", "2", "--rate", "100mbit", "--trunk", "50mbit", "--latency", "20ms"});
  constexpr double bytes = 8e6, there_and_back_s = 0.04;
  CHECK(bed.tell({"profile"}).find("100mbit behind 2 trunks of 50mbit, latency 20ms, TCP cubic") != std::string::npos);
  CHECK(seconds_in(bed.tell({"run", "--hosts", "2", "2", link_stream, "1"})) > there_and_back_s);
  CHECK(bed.trunk_bytes() < 1000); // host0 asks all hosts for host1's address
  CHECK(seconds_in(bed.tell({"run", "--hosts", "2", "2", link_stream, fmt::format("{}", bytes)})) >
        bytes * 8 / 100e6 + there_and_back_s);
  const auto before = double(bed.trunk_bytes());
  CHECK(seconds_in(bed.tell({"run", "4", link_stream, fmt::format("{}", bytes)})) > bytes * 8 / 50e6 + there_and_back_s);
  const double crossed = double(bed.trunk_bytes()) - before;
  CHECK(crossed > bytes);
  CHECK(crossed < 1.15 * bytes);
  const auto traffic = bed.counters();
  CHECK(traffic.at("trunk0").sent == traffic.at("trunk1").received);
  CHECK(traffic.at("trunk0").sent > traffic.at("trunk1").sent);
  CHECK(double(traffic.at("host0").sent) > 2 * bytes);
}

TEST_CASE("without the program that carries its frames, a testbed runs nothing")
{
  const Testbed bed({"--hosts", "2", "--latency", "1ms"});
  const auto carrier = [&] { return std::string(trim(run_command({"ip", "netns", "pids", bed.prefix() + "-links"}).out)); };
  REQUIRE(::kill(std::stoi(carrier()), SIGKILL) == 0);
  REQUIRE(eventually([&] { return carrier().empty(); }, 30));
  const auto result = bed.call({"run", "2", "true"});
  CHECK(result.exit_code == 1);
  CHECK(result.err.starts_with("testbed: the program that carries the frames has ended"));
}

TEST_CASE("two testbeds side by side know nothing of each other")
{
  const Testbed left({"--hosts", "2"});
  const Testbed right({"--hosts", "3"});
  CHECK(left.prefix() != right.prefix());
  CHECK(left.tell({"run", "--ranks-per-host", "1", link_stream, "100000"}).starts_with("2 ranks on 2 nodes, "));
  CHECK(right.counters().at("host0").sent == 0);
  left.tell({"down"});
  CHECK(right.tell({"run", "--ranks-per-host", "1", link_stream, "100000"}).starts_with("3 ranks on 3 nodes, "));
}

TEST_CASE("an `up` that is killed leaves nothing behind, wherever it was")
{
  for (const std::string moment : {"settings", "agent", "etc/host0"}) {
    INFO("killed when it had made " << moment);
    const Testbed bed;
    const pid_t up = bed.start({"up", "--hosts", "8", "--supernodes", "2"});
    while (!fs::exists(bed.folder() / moment) && identify_process(up)) ::usleep(500);
    const auto prefix = bed.prefix();
    ::kill(up, SIGKILL);
    ::waitpid(up, nullptr, 0);
    CHECK_FALSE(fs::exists(bed.folder() / "ready"));
    REQUIRE_FALSE(prefix.empty());
    CHECK(eventually([&] { return is_gone(bed, prefix); }, 20));
  }
}

TEST_CASE("a `run` that is killed leaves no rank, and the hosts can be used again")
{
  const Testbed bed({"--hosts", "2"});
  const pid_t run = bed.start({"run", "--ranks-per-host", "2", "sleep", "600"});
  REQUIRE(eventually([&] { return bed.processes().size() == 8; }, 30));
  ::kill(run, SIGKILL);
  ::waitpid(run, nullptr, 0);
  CHECK(eventually([&] { return bed.processes().size() == 2; }, 30));
  CHECK(bed.tell({"run", "2", link_stream, "1000"}).starts_with("2 ranks on 2 nodes, "));
}

TEST_CASE("a testbed goes down when its owner ends, and one that fails to come up leaves nothing")
{
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  const Testbed bed;
  REQUIRE(bed.call({"up", "--hosts", "2", "--owner", std::to_string(owner)}).ok());
  const auto prefix = bed.prefix();
  const auto processes = bed.processes();
  CHECK(bed.call({"up"}).err.find("a testbed stands in " + bed.folder().string() + " already") != std::string::npos);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  CHECK(eventually([&] { return is_gone(bed, prefix, processes); }, 20));

  const Testbed broken;
  const auto failed = broken.call({"up", "--hosts", "2", "--rate", "99999999999999999gbit"});
  CHECK(failed.exit_code != 0);
  CHECK_FALSE(fs::exists(broken.folder()));
}

TEST_CASE("wrong words, and users who cannot have a testbed, are refused with exit code 2")
{
  const Testbed bed;
  const std::vector<std::pair<Words, std::string>> refused{
      {{"up", "--hosts", "65"}, "testbed: --hosts is a number from 1 to 64, not: 65\n"},
      {{"up", "--hosts", "4", "--supernodes", "3"},
       "testbed: --supernodes: 4 hosts cannot be shared out evenly to 3 supernodes\n"},
      {{"up", "--rate", "fast"}, "testbed: --rate is a bandwidth such as 250mbit or 1gbit, or none; not: fast\n"},
      {{"up", "--latency", "5"}, "testbed: --latency is a time such as 50us or 5ms, or none; not: 5\n"},
      {{"up", "--congestion", "slow"},
       fmt::format("testbed: --congestion: this kernel has {}, not: slow\n",
                   trim(*read_file_if_exists("/proc/sys/net/ipv4/tcp_available_congestion_control")))},
      {{"go"}, "testbed: unknown verb go; see: testbed help\n"},
  };
  for (const auto& [words, error] : refused) {
    const auto result = bed.call(words);
    CHECK(result.err == error);
    CHECK(result.exit_code == 2);
  }
  const auto nobody = run_command({"setpriv", "--reuid=65534", "--clear-groups", testbed_program, "check"});
  CHECK(nobody.err == "testbed: only root can make network namespaces with shaped links; run it as root\n");
  CHECK(nobody.exit_code == 2);
  CHECK(bed.call({"run", "2", "true"}).exit_code == 1);
}

TEST_CASE("dtctl trains and runs programs on the hosts of a testbed through the profile it prints, cancels a run and leaves no "
          "rank, and "
          "says when the testbed has gone down")
{
  const Testbed bed({"--hosts", "2"});
  const TestbedUser user(bed), canceller(bed), late(bed);
  user.submit(a_moment, {"--wait"});
  const auto begin = read_begin(newest_attempt(user.run()));
  REQUIRE(begin);
  CHECK(begin->nodes == 2);
  CHECK(begin->rank_hosts == Words{"host0", "host0", "host1", "host1"});
  CHECK(read_result(newest_attempt(user.run())));
  CHECK(bed.counters().at("host1").sent > 40 * 100000); // gradients of 40 steps

  user.dtctl().write("train.py", connects + "import dtctl_report as report\nreport.begin()\n"
                                            "report.step(loss=1.0, samples=3)\nreport.result()\n");
  user.dtctl().write("own.yaml", "version: 1\nname: own\nprogram: {command: [python3, train.py], files: [train.py]}\n"
                                 "resources: {nodes: 2, time_limit: 60s}\n");
  const auto outcome = user.dtctl().json({"submit", "own.yaml", "--profile", "testbed", "--wait"});
  INFO(outcome.dump() << user.dtctl().run({"explain"}).out);
  CHECK(outcome.at("states") == Json{{"succeeded", 1}});
  const auto rows =
      user.dtctl()
          .json({"query", "SELECT DISTINCT host FROM ranks JOIN runs ON runs.id = run_id WHERE program_command IS NOT NULL"})
          .at("rows");
  CHECK(rows.size() == 2);

  canceller.submit(for_ever);
  REQUIRE(eventually([&] { return is_training(canceller.run()); }));
  CHECK(bed.processes().size() > 4);
  canceller.dtctl().run({"cancel", "all"});
  CHECK(canceller.dtctl().run({"status", "--follow", "all", "--timeout", "60s"}).exit_code == 1);
  CHECK(canceller.dtctl().json({"status", "all"}).at("states") == Json{{"cancelled", 1}});
  CHECK(eventually([&] { return bed.processes().size() == 2; }, 20));

  bed.tell({"down"});
  late.submit(a_moment);
  CHECK(late.dtctl().run({"status", "--follow", "all", "--timeout", "60s"}).exit_code == 1);
  CHECK_THAT(late.dtctl().run({"explain", "last"}).out, Catch::Contains("no testbed stands in"));
}

TEST_CASE("a slow link appears as exposed communication")
{
  const Dtctl dtctl;
  fs::create_directories(dtctl.folder() / "config" / "dtctl");
  // The same recipe on links of different bandwidths; another seed makes it another run.
  const auto point_at = [&](const std::string& rate, int seed) {
    const Testbed bed({"--hosts", "4", "--rate", rate});
    write_file_atomic(dtctl.folder() / "config" / "dtctl" / "config.yaml", bed.tell({"profile"}));
    dtctl.write("recipe.yaml", fmt::format("version: 1\nname: at-{0}\nmodel: {{name: lenet}}\n"
                                           "data: {{name: synthetic, train_samples: 1024, test_samples: 32}}\n"
                                           "train: {{batch_per_rank: 8, steps: 40, warmup_steps: 5, modelled_rate: 200, "
                                           "eval_every_epochs: 0, seed: {1}}}\nsync: {{allreduce: ring}}\n"
                                           "resources: {{nodes: 4, ranks_per_node: 1, oversubscribe: true}}\n",
                                           rate, seed));
    const auto outcome = dtctl.json({"submit", "recipe.yaml", "--profile", "testbed", "--wait"});
    REQUIRE(outcome.at("states") == Json{{"succeeded", 1}});
    return dtctl.json({"results", "--why"});
  };
  const auto clean = point_at("none", 1), planted = point_at("20mbit", 2);
  const auto factor = [](const Json& results, const char* name) { return results.at("why")[0].at(name).get<double>(); };
  const auto throughput = [&](const std::string& study) {
    return dtctl.json({"results", study}).at("scaling")[0].at("throughput").get<double>();
  };
  const double lost = std::log(throughput("at-20mbit") / throughput("at-none"));
  INFO(planted.dump() << "\nclean " << clean.dump());
  CHECK(lost < std::log(0.5)); // the ring sends 0.43 MB a step over each link, which take 0.17 s
  CHECK(std::log(factor(planted, "factor_communication") / factor(clean, "factor_communication")) <= 0.8 * lost);
}
