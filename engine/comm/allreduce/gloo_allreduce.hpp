// `gloo`: the ring allreduce of the Gloo library over TCP, with which PyTorch sums gradients on processors.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"

#include <functional>
#include <memory>

namespace gloo {
class Context;
}

namespace dt::comm {

// Whether this program was built with Gloo. Without it every function below throws the error of require_gloo().
bool has_gloo();

// Throws an environment error that says what to install when this program was built without Gloo.
void require_gloo();

// Connects each rank of comm with each other one over TCP. Every rank gets a thread of Gloo's that moves the data. The addresses
// are those of choose_address(), with rank 0's GLOO_SOCKET_IFNAME for ranks that have none. Throws on all ranks when a rank has
// no address that the others can reach, and an environment error when a connection cannot be made within 30 s. Collective.
std::shared_ptr<gloo::Context> connect_gloo(Communicator& comm);

// Makes `call` and turns an exception of Gloo's into an environment error with the rank and the cause. Most often a connection is
// closed because another rank has ended, and then that rank or mpirun tells the cause: the error is thrown three seconds later,
// so that it does not come first.
void guard_gloo(const Communicator& comm, const char* what, const std::function<void()>& call);

// The algorithms of Gloo's current interface. PyTorch takes the ring, and so does the engine; dtbench measures both.
enum class GlooAlgorithm { ring, bcube };

// Gloo's sum waits as long as another rank computes: Gloo's own limit of 30 s is not used, and the engine reports ranks that
// stand still. A sum cannot be advanced, because Gloo's call returns at its end. All ranks get the same bits.
class GlooAllreduce : public Allreduce {
 public:
  GlooAllreduce(const AllreduceOptions& options, Communicator& comm, GlooAlgorithm algorithm = GlooAlgorithm::ring);
  using Allreduce::sum;
  // Gloo does not send through the communicator, so this function adds the bytes and messages of the ring to
  // traffic(): bandwidth_optimal_bytes() bytes in 2 (P-1) messages for each rank. The sum over all ranks is exact. A single rank
  // may send up to one part of the ring more or less, if the vector cannot be divided evenly. Gloo's segments of a message and
  // its notices are not counted, nor is bcube.
  void sum(std::span<float> values) override;

 private:
  Communicator& comm_;
  GlooAlgorithm algorithm_;
  std::shared_ptr<gloo::Context> context_; // null with one rank, which has nothing to send
};

} // namespace dt::comm
