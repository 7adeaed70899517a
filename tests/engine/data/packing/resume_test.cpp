// dtengine data pack is killed and called again.
#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/maths/random.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <cstdio>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::test;

namespace {

// dtengine with its standard output as a stream of lines.
class Engine {
 public:
  Engine(const fs::path& source, const fs::path& output)
  {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::execl(DTCTL_BINARY_DIR "/bin/dtengine", "dtengine", "data", "pack", source.c_str(), "--out", output.c_str(), "--threads",
              "2", "--progress", "--json", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    lines_ = ::fdopen(ends[0], "r");
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine()
  {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::fclose(lines_);
  }
  // The next line; empty at the end.
  std::string line()
  {
    char text[4096];
    return std::fgets(text, sizeof text, lines_) == nullptr ? "" : text;
  }

 private:
  pid_t child_;
  std::FILE* lines_;
};

} // namespace

TEST_CASE("a pack that is killed again and again goes on each time, and ends with the same file")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s", output = folder.path() / "s.pack";
  write_class_folders(source, {"a", "b", "c"}, 2000); // twelve parts
  std::string last;
  {
    Engine engine(source, folder.path() / "whole.pack");
    for (std::string line; !(line = engine.line()).empty();) last = line;
  }
  REQUIRE(nlohmann::json::parse(last).at("resumed") == 0);
  Random random(1);
  int kills = 0;
  std::int64_t most_done = 0;
  for (; !fs::exists(output); ++kills) {
    REQUIRE(kills < 40);
    Engine engine(source, output);
    const auto lines = 1 + random.below(4);
    for (std::uint64_t i = 0; i < lines; ++i) {
      const auto line = engine.line();
      if (line.starts_with("images ")) most_done = std::max<std::int64_t>(most_done, std::stoll(line.substr(7)));
      if (line.starts_with("{")) CHECK(nlohmann::json::parse(line).at("resumed") > 0);
    }
  } // the destructor kills it
  CHECK(kills > 2);
  CHECK(most_done > 512);
  CHECK(read(output) == read(folder.path() / "whole.pack"));
}

TEST_CASE("a full disk is an error of the environment, and packing goes on when there is room again")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s", output = folder.path() / "s.pack";
  write_class_folders(source, {"a", "b"}, 1500); // six parts, 270 kB
  const auto pack = [&](const std::string& limit) {
    return run_command({"sh", "-c", limit + "exec \"$0\" \"$@\"", DTCTL_BINARY_DIR "/bin/dtengine", "data", "pack",
                        source.string(), "--out", output.string(), "--test-fraction", "0", "--order", "source", "--threads", "1",
                        "--json"});
  };
  const auto full = pack("ulimit -f 200; "); // blocks of 512 bytes
  CHECK(full.exit_code == static_cast<int>(ExitCode::environment));
  CHECK_THAT(full.err, Catch::Contains(output.string() + ".partial"));
  CHECK_FALSE(fs::exists(output));
  const auto result = pack("");
  REQUIRE(result.ok());
  CHECK(nlohmann::json::parse(result.out).at("resumed") > 0);
  const auto whole = folder.path() / "whole.pack";
  auto options = plain_options(source, whole);
  data::pack_data(options);
  CHECK(read(output) == read(whole));
}
