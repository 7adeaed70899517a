// The allreduce `gloo` in programs that are built without the Gloo library.
#include "core/error.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"

namespace dt::comm {

bool has_gloo() { return false; }

void require_gloo()
{
  throw Error(ErrorKind::environment,
              "This program was built without Gloo, so it does not have the allreduce `gloo`. Install libgloo-dev "
              "(scripts/dependencies build), configure and build again, or take another allreduce.");
}

std::shared_ptr<gloo::Context> connect_gloo(Communicator&)
{
  require_gloo();
  return nullptr;
}

void guard_gloo(const Communicator&, const char*, const std::function<void()>&) { require_gloo(); }

GlooAllreduce::GlooAllreduce(const AllreduceOptions&, Communicator& comm, GlooAlgorithm algorithm)
    : comm_(comm), algorithm_(algorithm)
{
  require_gloo();
}

void GlooAllreduce::sum(std::span<float>) {}

} // namespace dt::comm
