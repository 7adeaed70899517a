#include "engine/bench/comm/gloo_allreduce.hpp"

#include "core/error.hpp"
#include "core/process.hpp"

#include <map>

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

namespace dt::bench {
namespace {

// Gloo's ranks exchange addresses through a store. Each rank calls set() once, which is an exchange over MPI.
class MpiStore : public gloo::rendezvous::Store {
 public:
  explicit MpiStore(comm::Communicator& comm) : comm_(comm) {}
  void set(const std::string& key, const std::vector<char>& data) override
  {
    const auto keys = comm_.gather_texts(key);
    const auto texts = comm_.gather_texts(std::string(data.begin(), data.end()));
    for (std::size_t r = 0; r < keys.size(); ++r) known_[keys[r]].assign(texts[r].begin(), texts[r].end());
  }
  std::vector<char> get(const std::string& key) override { return known_.at(key); }
  void wait(const std::vector<std::string>&) override {}

 private:
  comm::Communicator& comm_;
  std::map<std::string, std::vector<char>> known_;
};

std::shared_ptr<gloo::rendezvous::Context> connect(comm::Communicator& comm)
{
  gloo::transport::tcp::attr attributes;
  attributes.hostname = host_name();
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(comm.rank(), comm.size());
  MpiStore store(comm);
  context->connectFullMesh(store, device);
  return context;
}

// The interface that PyTorch uses: gloo::allreduce with an algorithm.
class GlooSegments : public comm::Allreduce {
 public:
  GlooSegments(comm::Communicator& comm, gloo::AllreduceOptions::Algorithm algorithm)
      : context_(connect(comm)), algorithm_(algorithm)
  {
  }
  using comm::Allreduce::sum;
  void sum(std::span<float> values) override
  {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(algorithm_);
    options.setOutput(values.data(), values.size());
    using Sum = void (*)(void*, const void*, const void*, std::size_t);
    options.setReduceFunction(static_cast<Sum>(&gloo::sum<float>));
    gloo::allreduce(options);
  }

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
  gloo::AllreduceOptions::Algorithm algorithm_;
};

// Gloo's older classes are bound to one buffer, so the object is created again for another buffer.
class GlooHalvingDoubling : public comm::Allreduce {
 public:
  explicit GlooHalvingDoubling(comm::Communicator& comm) : context_(connect(comm)) {}
  using comm::Allreduce::sum;
  void sum(std::span<float> values) override
  {
    if (!made_ || made_for_.data() != values.data() || made_for_.size() != values.size()) {
      made_.reset();
      made_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context_, std::vector<float*>{values.data()},
                                                                      static_cast<int>(values.size()));
      made_for_ = values;
    }
    made_->run();
  }

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::unique_ptr<gloo::AllreduceHalvingDoubling<float>> made_;
  std::span<float> made_for_;
};

} // namespace

std::vector<std::string> gloo_allreduces() { return {"gloo-ring", "gloo-bcube", "gloo-halving-doubling"}; }

std::unique_ptr<comm::Allreduce> make_gloo_allreduce(const std::string& name, comm::Communicator& comm)
{
  if (name == "gloo-ring") return std::make_unique<GlooSegments>(comm, gloo::AllreduceOptions::Algorithm::RING);
  if (name == "gloo-bcube") return std::make_unique<GlooSegments>(comm, gloo::AllreduceOptions::Algorithm::BCUBE);
  if (name == "gloo-halving-doubling") return std::make_unique<GlooHalvingDoubling>(comm);
  throw Error(ErrorKind::usage, "Gloo has no allreduce " + name + " here.");
}

} // namespace dt::bench
