// Loading libslurm where it cannot be used: a sentence, never the end of the process. And knowing at once that nobody listens.
#include "tests/jobs/playground.hpp"

#include "core/error.hpp"
#include "jobs/slurm/access/load.hpp"
#include "jobs/slurm/access/watch.hpp"

#include <catch2/catch.hpp>

#include <atomic>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace dt;
using namespace dt::jobs::slurm;
using dt::jobs::testing::Folder;
using dt::jobs::testing::Variable;

namespace {

// The words of the scheduler error; "not built" where there is no module to load.
std::string trouble_with(const std::filesystem::path& configuration)
{
  if (slurm_module().empty()) return "not built";
  const Variable variable("SLURM_CONF", configuration.string());
  try {
    open_slurm();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::scheduler);
    return error.what();
  }
  return "no error";
}

// A socket bound to a free port of this machine, listening or not.
struct Port {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t number = 0;
  explicit Port(bool listens)
  {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    number = ntohs(address.sin_port);
    if (listens) REQUIRE(listen(socket, 1) == 0);
  }
  ~Port() { close(socket); }
};

} // namespace

TEST_CASE("a configuration that is not there is a sentence, at once")
{
  const auto words = trouble_with("/nowhere/slurm.conf");
  CHECK(
      (words == "not built" || words == "Slurm cannot be used here: SLURM_CONF names /nowhere/slurm.conf, which is not there."));
}

TEST_CASE("a configuration that libslurm does not accept is a sentence with its words, and the process lives on")
{
  const Folder folder;
  const auto path = folder.path() / "slurm.conf";
  write_file_atomic(path, "ClusterName=x\nBogusKey=1\n");
  const auto words = trouble_with(path);
  if (words == "not built") return;
  CHECK(words.starts_with("Slurm cannot be used here: its library does not accept " + path.string() + " (\""));
  CHECK(words.find("BogusKey") != std::string::npos);
}

TEST_CASE("a port on which nobody listens refuses, one on which somebody does does not")
{
  CHECK(refuses_connections("127.0.0.1", Port(false).number));
  const Port listening(true);
  CHECK_FALSE(refuses_connections("127.0.0.1", listening.number));
  CHECK_FALSE(refuses_connections("no.such.host.invalid", 1));
}

TEST_CASE("a quick answer is not looked into, a slow one is, and the look may give up on it")
{
  using namespace std::chrono_literals;
  std::atomic<int> looks = 0;
  CHECK(watched([] { return 7; }, [&] { ++looks; }, 10min) == 7);
  CHECK(looks == 0);
  const auto after_a_look = [&] {
    while (looks == 0) std::this_thread::yield();
    return 8;
  };
  CHECK(watched(
            after_a_look, [&] { ++looks; }, 1ms) == 8);
  CHECK(looks == 1);
  const auto never_asked_again = std::make_shared<std::promise<int>>(); // its answer does not come
  const auto ask = [never_asked_again] { return never_asked_again->get_future().get(); };
  CHECK_THROWS_WITH(watched(
                        ask, [] { throw std::runtime_error("nobody listens"); }, 1ms),
                    "nobody listens");
  never_asked_again->set_value(0); // so that its thread ends
  CHECK_THROWS_WITH(watched([]() -> int { throw SlurmFailure(2000, "refused"); }, [] {}), "refused");
}
