#include "engine/sim/run/simulation.hpp"

#include "core/error.hpp"
#include "engine/sim/machine/simulated_machine.hpp"
#include "engine/sim/platform/platform.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simgrid/forward.h>
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

// ---- the network of a platform in the simulator ----

// Computation is given in seconds, so a host's speed is never used.
constexpr double any_speed = 1e9;

// A node sends its messages in turn, in the order in which they are ready, as a connection does: if they shared the link, all of
// them would arrive late. What a node receives from several others shares its link.
s4u::Host* add_node(s4u::NetZone& zone, const Platform& platform, std::int64_t node)
{
  const auto number = std::to_string(node);
  auto* host = zone.create_host("node" + number, any_speed);
  auto* link = zone.create_split_duplex_link("link" + number, platform.bandwidth);
  link->set_latency(platform.latency_s / 2);
  link->get_link_up()->set_concurrency_limit(1);
  auto* memory = zone.create_link("memory" + number, platform.memory_bandwidth * static_cast<double>(platform.ranks_per_node));
  zone.add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}}, true);
  zone.add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(memory)}, false);
  return host;
}

void add_trunk(s4u::NetZone& root, s4u::NetZone& zone, const Platform& platform, std::int64_t members)
{
  auto* router = zone.create_router("switch of " + zone.get_name());
  zone.seal();
  const double bandwidth = platform.bandwidth * platform.trunk_share * static_cast<double>(members);
  auto* trunk =
      root.create_split_duplex_link("trunk of " + zone.get_name(), bandwidth)->set_latency(platform.trunk_latency_s / 2);
  root.add_route(zone.get_netpoint(), nullptr, router, nullptr, {{trunk, s4u::LinkInRoute::Direction::UP}}, true);
}

// Makes hosts and links in the current engine, which must be new. Returns the host of each node.
std::vector<s4u::Host*> build_network(const Platform& platform)
{
  std::vector<s4u::Host*> hosts;
  auto* root = s4u::create_star_zone("machine");
  if (platform.supernodes() == 1) {
    for (std::int64_t node = 0; node < platform.nodes; ++node) hosts.push_back(add_node(*root, platform, node));
    root->seal();
    return hosts;
  }
  for (std::int64_t supernode = 0; supernode < platform.supernodes(); ++supernode) {
    auto* zone = s4u::create_star_zone("supernode" + std::to_string(supernode));
    zone->set_parent(root);
    const auto begin = supernode * platform.nodes_per_supernode;
    const auto end = std::min(begin + platform.nodes_per_supernode, platform.nodes);
    for (std::int64_t node = begin; node < end; ++node) hosts.push_back(add_node(*zone, platform, node));
    add_trunk(*root, *zone, platform, end - begin);
  }
  root->seal();
  return hosts;
}

constexpr const char* program = "ranks";

// Without corrections of bandwidth and latency, so that a platform's figures are those of its links.
void configure()
{
  xbt_log_control_set("root.thres:critical");
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:no", "contexts/stack-size:256",
                              "smpi/simulate-computation:no", "smpi/test:1e-7", "smpi/wtime:0"})
    s4u::Engine::set_config(setting);
  for (const char* setting : {"smpi/async-small-thresh", "smpi/send-is-detached-thresh"})
    s4u::Engine::set_config(fmt::format("{}:{}", setting, simulated_eager_bytes));
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
