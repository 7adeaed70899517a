#include "engine/comm/allreduce/gloo_allreduce.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "engine/comm/allreduce/gloo_address.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

namespace dt::comm {
namespace {

constexpr std::chrono::seconds connect_limit{30};
constexpr std::chrono::hours sum_limit{24 * 365}; // Gloo has no "for ever": 0 ends at once
constexpr std::chrono::seconds others_first{3};

// Gloo's ranks exchange addresses through a store. Each rank calls set() equally often, and each call is an exchange over MPI.
class MpiStore : public gloo::rendezvous::Store {
 public:
  explicit MpiStore(Communicator& comm) : comm_(comm) {}
  void set(const std::string& key, const std::vector<char>& data) override
  {
    const auto keys = comm_.gather_texts(key);
    const auto texts = comm_.gather_texts(std::string(data.begin(), data.end()));
    for (std::size_t r = 0; r < keys.size(); ++r) known_[keys[r]].assign(texts[r].begin(), texts[r].end());
  }
  std::vector<char> get(const std::string& key) override { return known_.at(key); }
  void wait(const std::vector<std::string>&) override {}

 private:
  Communicator& comm_;
  std::map<std::string, std::vector<char>> known_;
};

// Rank 0's choice is for ranks that have none, because mpirun passes on only the variables that its command names.
std::string named_interface(Communicator& comm)
{
  const char* own = std::getenv("GLOO_SOCKET_IFNAME");
  const auto roots = comm.broadcast_text(own == nullptr ? "" : own);
  return own == nullptr ? roots : own;
}

// The address of this rank. When a rank has none, all ranks throw the first such rank's error.
std::string agreed_address(Communicator& comm)
{
  const auto named = named_interface(comm);
  const bool several_hosts = !comm.all_equal(host_name());
  std::string address, cause;
  try {
    address = choose_address(own_network(), named, several_hosts);
  } catch (const Error& error) {
    cause = error.what();
  }
  const auto causes = comm.gather_texts(cause);
  for (std::size_t r = 0; r < causes.size(); ++r)
    if (!causes[r].empty()) throw Error(ErrorKind::environment, fmt::format("Rank {} has no address for Gloo: {}", r, causes[r]));
  return address;
}

// Gloo writes to sockets without MSG_NOSIGNAL: a rank would be killed by the signal when another rank has ended.
void ignore_broken_pipes()
{
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

} // namespace

bool has_gloo() { return true; }

void require_gloo() {}

std::shared_ptr<gloo::Context> connect_gloo(Communicator& comm)
{
  gloo::transport::tcp::attr attributes;
  attributes.hostname = agreed_address(comm);
  ignore_broken_pipes();
  auto context = std::make_shared<gloo::rendezvous::Context>(comm.rank(), comm.size());
  guard_gloo(comm, "connecting with the other ranks", [&] {
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    MpiStore store(comm);
    context->setTimeout(connect_limit);
    context->connectFullMesh(store, device);
  });
  comm.barrier(); // no rank closes its connections before the others have accepted them
  return context;
}

void guard_gloo(const Communicator& comm, const char* what, const std::function<void()>& call)
{
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    std::this_thread::sleep_for(others_first);
    throw Error(
        ErrorKind::environment,
        fmt::format("The allreduce `gloo` failed on rank {} ({}) while {}: {}. If a connection was closed, another rank has "
                    "ended: look for its error, or mpirun's message.",
                    comm.world_rank(comm.rank()), host_name(), what, error.what()));
  }
}

GlooAllreduce::GlooAllreduce(const AllreduceOptions& options, Communicator& comm, GlooAlgorithm algorithm)
    : comm_(comm), algorithm_(algorithm)
{
  if (options.wire != Wire::float32)
    throw Error(ErrorKind::recipe, "The allreduce `gloo` sends float32 only; take another one for sync.wire: " +
                                       std::string(name_of(options.wire)) + ".");
  if (comm.size() > 1) context_ = connect_gloo(comm);
}

void GlooAllreduce::sum(std::span<float> values)
{
  if (!context_ || values.empty()) return;
  gloo::AllreduceOptions options(context_);
  using Algorithm = gloo::AllreduceOptions::Algorithm;
  options.setAlgorithm(algorithm_ == GlooAlgorithm::ring ? Algorithm::RING : Algorithm::BCUBE);
  options.setTimeout(sum_limit);
  options.setOutput(values.data(), values.size());
  using Sum = void (*)(void*, const void*, const void*, std::size_t);
  options.setReduceFunction(static_cast<Sum>(&gloo::sum<float>));
  guard_gloo(comm_, "summing", [&] { gloo::allreduce(options); });
  if (algorithm_ != GlooAlgorithm::ring) return;
  comm_.traffic().bytes += bandwidth_optimal_bytes(values.size_bytes(), comm_.size());
  comm_.traffic().messages += 2 * (comm_.size() - 1);
}

} // namespace dt::comm
