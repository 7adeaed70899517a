#include "engine/sim/run/simulation.hpp"

#include "core/error.hpp"
#include "engine/sim/machine/simulated_machine.hpp"
#include "engine/sim/platform/network.hpp"

#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/log.h>
#include <xbt/xbt_os_time.h>

// Two functions of SimGrid, replaced for the whole process: SMPI reads the processor time in every call of MPI, to simulate the
// computation between the calls. Ours is stated by the program, and each reading costs a system call.
extern "C" {
void xbt_os_threadtimer_start(xbt_os_timer_t) {}
void xbt_os_threadtimer_stop(xbt_os_timer_t) {}
}

namespace dt::sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr const char* program = "ranks";

// Without corrections of bandwidth and latency, so that a platform's figures are those of its links.
void configure()
{
  xbt_log_control_set("root.thres:critical");
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:no", "contexts/stack-size:256",
                              "smpi/simulate-computation:no", "smpi/test:1e-7", "smpi/wtime:0"})
    s4u::Engine::set_config(setting);
}

// Settings that exist only after smpi_init_options(). The engine makes collective calls of MPI at start-up and for records.
// SMPI's default algorithms for them send about P^2 messages between P ranks, which takes the simulator 50 s for 1,024 ranks;
// those named here send at most P log2 P.
void configure_mpi(const Platform& platform)
{
  for (const auto& setting :
       {std::string("smpi/coll-selector:ompi"), std::string("smpi/allreduce:rdb"), std::string("smpi/bcast:binomial_tree"),
        std::string("smpi/allgather:bruck"), std::string("smpi/allgatherv:ompi_bruck"), std::string("smpi/gather:ompi_binomial"),
        fmt::format("smpi/os:0:{}:0", platform.message_s), fmt::format("smpi/ois:0:{}:0", platform.message_s),
        fmt::format("smpi/or:0:{}:0", platform.message_s)})
    s4u::Engine::set_config(setting);
}

// A message between vectors without a meaning is not copied.
void copy_message(smx_activity_t message, void* data, std::size_t bytes)
{
  if (is_folded(data)) return;
  smpi_comm_copy_buffer_callback(static_cast<simgrid::kernel::activity::CommImpl*>(static_cast<void*>(message)), data, bytes);
}

// How the ranks ended.
struct Ends {
  int complete = 0;
  std::exception_ptr failure; // of the first rank that failed
};

void run_rank(const std::function<void(comm::Communicator&)>& rank_program, Ends& ends)
{
  MPI_Init(nullptr, nullptr);
  bool failed = false;
  try {
    // A copy of the communicator of all ranks: the simulator looks up MPI_COMM_WORLD by the rank that runs, and no rank runs
    // while it matches a message with a receive from any source.
    MPI_Comm world = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    comm::Communicator comm(world);
    rank_program(comm);
  } catch (const simgrid::ForcefulKillException&) {
    throw;
  } catch (...) {
    if (!ends.failure) ends.failure = std::current_exception();
    failed = true;
  }
  if (failed) return s4u::Actor::kill_all(); // the other ranks wait for this one
  MPI_Finalize();
  ++ends.complete;
}

} // namespace

void simulate(const SimulationOptions& options, const std::function<void(comm::Communicator&)>& rank_program)
{
  require_possible(options.platform);
  static bool started = false;
  if (std::exchange(started, true)) throw Error(ErrorKind::internal, "The simulator cannot start twice in a process.");
  simulated_machine() = {options.platform, options.folded};
  static std::array name{'d', 't', 's', 'i', 'm', '\0'};
  static std::array<char*, 2> words{name.data(), nullptr};
  int count = 1;
  s4u::Engine engine(&count, words.data());
  configure();
  const auto hosts = build_network(options.platform);
  smpi_init_options();
  configure_mpi(options.platform);
  SMPI_init();
  smpi_comm_set_copy_data_callback(copy_message);
  const auto ranks = static_cast<int>(options.platform.ranks());
  SMPI_app_instance_register(program, nullptr, ranks);
  Ends ends;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto actor =
        s4u::Actor::init(fmt::format("rank{}", rank), hosts[static_cast<std::size_t>(rank / options.platform.ranks_per_node)]);
    actor->set_property("instance_id", program);
    actor->set_property("rank", std::to_string(rank));
    actor->start([&] { run_rank(rank_program, ends); });
  }
  engine.run();
  if (ends.failure) std::rethrow_exception(ends.failure);
  if (ends.complete < ranks)
    throw Error(ErrorKind::internal,
                fmt::format("{} of {} simulated ranks wait for each other without end.", ranks - ends.complete, ranks));
  SMPI_finalize();
}

} // namespace dt::sim
