#include "engine/bench/comm/gloo_allreduce.hpp"

#include "core/error.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"

#include <gloo/allreduce_halving_doubling.h>

namespace dt::bench {
namespace {

// Gloo's older classes are bound to one buffer, so the object is created again for another buffer.
class GlooHalvingDoubling : public comm::Allreduce {
 public:
  explicit GlooHalvingDoubling(comm::Communicator& comm) : comm_(comm), context_(comm::connect_gloo(comm)) {}
  using comm::Allreduce::sum;
  void sum(std::span<float> values) override
  {
    comm::guard_gloo(comm_, "summing", [&] {
      if (!made_ || made_for_.data() != values.data() || made_for_.size() != values.size()) make_for(values);
      made_->run();
    });
  }

 private:
  void make_for(std::span<float> values)
  {
    made_.reset();
    made_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context_, std::vector<float*>{values.data()},
                                                                    static_cast<int>(values.size()));
    made_for_ = values;
  }

  comm::Communicator& comm_;
  std::shared_ptr<gloo::Context> context_;
  std::unique_ptr<gloo::AllreduceHalvingDoubling<float>> made_;
  std::span<float> made_for_;
};

} // namespace

std::vector<std::string> gloo_allreduces() { return {"gloo-bcube", "gloo-halving-doubling"}; }

std::unique_ptr<comm::Allreduce> make_gloo_allreduce(const std::string& name, comm::Communicator& comm)
{
  if (name == "gloo-bcube")
    return std::make_unique<comm::GlooAllreduce>(comm::AllreduceOptions{}, comm, comm::GlooAlgorithm::bcube);
  if (name == "gloo-halving-doubling") return std::make_unique<GlooHalvingDoubling>(comm);
  throw Error(ErrorKind::usage,
              "dtbench has no allreduce " + name + "; of Gloo it has gloo, gloo-bcube and gloo-halving-doubling.");
}

} // namespace dt::bench
