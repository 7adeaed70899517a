// How dtctl's commands grow with the runs of a study. Makes a home with a study of finished runs, as dtengine leaves them, then
// runs the real dtctl on it. Prints one JSON object for each command: wall time, processor time (of the study page with the
// server's start), and the peak of its resident memory. On a machine that is busy with other work, only the latter two say
// something.
//
//   bench_scale --programs build/release/bin --runs 5000,20000,100000      each point of the study is one run
//   bench_scale --programs build/release/bin --runs 20000 --repeats 5      five runs of each point, so that all points are ranked
//
// The home is made below --folder and removed at the end. sweep submits nothing: every run is there already.
#include "cli/planning/resolve.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "core/text.hpp"
#include "recipes/recipe.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace dt;
namespace fs = std::filesystem;

struct Options {
  std::string programs, folder = fs::temp_directory_path().string();
  std::vector<std::int64_t> runs{5000, 20000, 100000};
  std::int64_t repeats = 1, steps = 20;
};

void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

double seconds_since(std::chrono::steady_clock::time_point begin)
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A sweep of two keys with so many points.
std::string recipe_text(std::int64_t points, std::int64_t repeats)
{
  const auto rows = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(points))));
  const auto columns = (points + rows - 1) / rows;
  const auto list = [](std::int64_t count, double unit) {
    std::vector<std::string> values;
    for (std::int64_t i = 1; i <= count; ++i) values.push_back(fmt::format("{:.10g}", unit * static_cast<double>(i)));
    return "[" + join(values, ", ") + "]";
  };
  return fmt::format(
      "version: 1\nname: scale\nmodel: {{name: lenet}}\n"
      "data: {{name: synthetic, channels: 1, height: 28, width: 28, classes: 10, train_samples: 1024, test_samples: 256}}\n"
      "train: {{global_batch: 64, epochs: 2, warmup_steps: 5}}\nstudy: {{repeats: {}}}\n"
      "sweep:\n  matrix:\n    optimizer.learning_rate: {}\n    optimizer.weight_decay: {}\n",
      repeats, list(rows, 1e-4), list(columns, 1e-7));
}

std::string event_lines(std::int64_t steps)
{
  std::string text;
  for (std::int64_t step = 1; step <= steps; ++step) {
    const auto x = static_cast<double>(step);
    append_line(text, StepEvent{step, x / 10, x / 100, 2.5 / x, 0.01, 0.01, {0.001, 0.002, 0.003, 0.001, 0.0005, 0}});
    if (step % 10 == 0) append_line(text, EvalEvent{step, x / 10, x / 100, 2 / x, 1 - 1 / x, 256, 0.05, 10 * x});
  }
  return text;
}

// Throughputs have a spread that is the same at every call.
RunResult result_of(std::size_t number)
{
  RunResult result;
  result.unix_s = 1700000100;
  result.steps = 32;
  result.warmup_steps = 5;
  result.throughput = 20000 * (1 + 0.1 * std::sin(static_cast<double>(number)));
  result.measured_samples = 27 * 64;
  result.measured_s = static_cast<double>(result.measured_samples) / result.throughput;
  result.wall_s = result.measured_s * 1.1;
  result.work = {result.measured_s * 0.8, result.measured_s * 0.8, result.measured_s * 0.8, result.measured_s * 0.9};
  result.final_loss = result.eval_loss = 0.3;
  result.accuracy = result.best_accuracy = 0.9;
  result.parameters = 431080;
  RankRecord rank;
  rank.host = "node0";
  for (auto& phase : rank.phases) phase = {0.01, 0.002, 0.002, 0.003, 0.004, 0.005};
  rank.step = {0.1, 0.01, 0.01, 0.02, 0.03, 0.04};
  result.ranks.push_back(rank);
  return result;
}

void write_run(const Home& home, const PlannedRun& run, const std::string& study, std::size_t number, const std::string& events)
{
  const AttemptFolder attempt(home.run(run.key), 1);
  make_folders(attempt.path());
  put(spec_path(home.run(run.key)), to_json(run));
  put(attempt.submission(), to_json(Submission{1, "token-" + run.key, "local", study, 1700000000, std::to_string(number)}));
  BeginRecord begin;
  begin.unix_s = 1700000001;
  begin.host = "node0";
  begin.pid = 4711;
  begin.ranks = begin.nodes = begin.threads_per_rank = 1;
  begin.rank_hosts = {"node0"};
  begin.rank_masks = {"0"};
  begin.environment = {{"cpu_model", "EPYC"}, {"mpi_version", "Open MPI 4.1.4"}, {"git_state", "abc123, clean"}};
  put(attempt.begin(), to_json(begin));
  put(attempt.events(), events);
  put(attempt.result(), to_json(result_of(number)));
  put(attempt.end(), "exit 0 1700000101\n");
}

// A home that holds a study of so many finished runs, and its recipe.
class StudyHome {
 public:
  StudyHome(const Options& options, std::int64_t runs)
  {
    auto pattern = (fs::path(options.folder) / "bench-scale-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorKind::environment, "cannot make a folder in " + options.folder);
    folder_ = pattern;
    put(recipe(), recipe_text(std::max<std::int64_t>(1, runs / options.repeats), options.repeats));
    ::setenv("DTCTL_HOME", (folder_ / "home").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    const Home home(folder_ / "home");
    make_folders(home.root());
    auto resolved = cli::resolve(home, recipes::load_plan(recipe(), {}));
    auto& study = resolved.study;
    study.created_unix_s = study.submitted_unix_s = 1700000000;
    make_folders(home.study(study.id));
    put(home.study(study.id) / "study.json", to_json(study));
    const auto events = event_lines(options.steps);
    for (std::size_t i = 0; i < resolved.runs.size(); ++i) write_run(home, resolved.runs[i], study.id, i, events);
    id_ = study.id;
    runs_ = resolved.runs.size();
  }
  StudyHome(const StudyHome&) = delete;
  StudyHome& operator=(const StudyHome&) = delete;
  ~StudyHome()
  {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path recipe() const { return folder_ / "scale.yaml"; }
  fs::path file(const std::string& name) const { return folder_ / name; }
  const std::string& id() const { return id_; }
  std::size_t runs() const { return runs_; }

 private:
  fs::path folder_;
  std::string id_;
  std::size_t runs_ = 0;
};

// Starts the words with standard output in `out`.
pid_t start(std::vector<std::string> words, const fs::path& out)
{
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(126);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void print(const Options& options, const StudyHome& home, const std::string& command, double seconds, const rusage& usage,
           int status)
{
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  std::puts(fmt::format("{{\"benchmark\": \"scale\", \"runs\": {}, \"repeats\": {}, \"command\": \"{}\", \"seconds\": {:.3f}, "
                        "\"cpu_seconds\": {:.3f}, \"peak_mb\": {:.1f}, \"exit\": {}}}",
                        home.runs(), options.repeats, command, seconds, in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime),
                        static_cast<double>(usage.ru_maxrss) * 1024e-6, status)
                .c_str());
  std::fflush(stdout);
}

// Returns whether the command succeeded.
bool time_command(const Options& options, const StudyHome& home, const std::string& name, std::vector<std::string> words)
{
  words.insert(words.begin(), (fs::path(options.programs) / "dtctl").string());
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = start(words, home.file("out-" + name));
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  print(options, home, name, seconds_since(begin), usage, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return status == 0;
}

// The bytes of the answer to GET from the port on this machine.
std::size_t get(int port, const std::string& path)
{
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::size_t bytes = 0;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const auto request = fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", path, port);
    std::array<char, 65536> block{};
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0)
      for (ssize_t got = 0; (got = ::recv(socket, block.data(), block.size(), 0)) > 0;) bytes += static_cast<std::size_t>(got);
  }
  ::close(socket);
  return bytes;
}

// The page of the study, by a server that has just been started.
bool time_page(const Options& options, const StudyHome& home)
{
  const auto out = home.file("address");
  const pid_t child = start({(fs::path(options.programs) / "dtctl").string(), "serve"}, out);
  std::string url;
  while (!(url = read_file_if_exists(out).value_or("")).ends_with('\n') && ::waitpid(child, nullptr, WNOHANG) == 0)
    ::usleep(10000);
  if (!url.ends_with('\n')) return false;
  const auto colon = url.rfind(':');
  const auto path = std::string(trim(url.substr(url.find('/', colon))));
  const auto begin = std::chrono::steady_clock::now();
  const auto bytes = get(std::stoi(url.substr(colon + 1)), path + "study?id=" + home.id());
  const double seconds = seconds_since(begin);
  ::kill(child, SIGTERM);
  rusage usage{};
  ::wait4(child, nullptr, 0, &usage);
  print(options, home, "study page", seconds, usage, bytes > 0 ? 0 : 1);
  return bytes > 0;
}

bool time_all(const Options& options, std::int64_t runs)
{
  const StudyHome home(options, runs);
  bool is_good = time_command(options, home, "db rebuild", {"db", "rebuild"});
  is_good &= time_command(options, home, "results", {"results", "scale"});
  is_good &= time_command(options, home, "report", {"report", "scale", "-o", home.file("report.html").string()});
  is_good &= time_page(options, home);
  is_good &= time_command(options, home, "sweep again", {"sweep", home.recipe().string()});
  return is_good;
}

} // namespace

int main(int argc, char** argv)
{
  CLI::App app("How dtctl's commands grow with the runs of a study");
  Options options;
  app.add_option("--programs", options.programs, "folder with dtctl, dtjob and dtengine")->required();
  app.add_option("--runs", options.runs, "runs of the studies")->delimiter(',');
  app.add_option("--repeats", options.repeats, "runs of each point")->check(CLI::PositiveNumber);
  app.add_option("--steps", options.steps, "step lines of each run");
  app.add_option("--folder", options.folder, "where the home is made");
  CLI11_PARSE(app, argc, argv);
  try {
    ::setenv("DTCTL_ENGINE", (fs::path(options.programs) / "dtengine").c_str(), 0);
    bool is_good = true;
    for (const auto runs : options.runs) is_good &= time_all(options, runs);
    return is_good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_scale: %s\n", error.what());
    return 1;
  }
}
