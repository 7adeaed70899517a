// Consensus: which models a training has under its strategy, and evaluating one of them in place of a rank's own weights.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"

#include <string>
#include <vector>

namespace dt::engine {

enum class Model {
  common,  // the one that all workers hold
  centre,  // the strategy's
  worker,  // rank 0's
  average, // mean of the workers'
};
std::string_view name_of(Model model);

class Consensus {
public:
  // References are kept and must outlive it.
  struct Parts {
    Replica& replica;
    Strategy& strategy;
    const Roles& roles;
    Communicator& comm;
  };
  // wanted: of evaluated_models(). A recipe error when that is a centre and the strategy has none.
  Consensus(const Parts& parts, const std::string& wanted);

  // What evaluations are of.
  Model chosen() const { return chosen_; }
  // All that there are: one when ranks are replicated and there is no centre.
  std::vector<Model> models() const;

  // While it lives every rank's replica holds that model; then it has its own weights again, bit for bit. Only between two
  // steps. Not counted as traffic. Making one is collective.
  class Loan {
  public:
    Loan(Consensus& consensus, Model model);
    ~Loan() { exchange(); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

  private:
    void exchange();
    std::span<float> weights_;
    std::vector<float> others_; // in turn the model and the rank's own; empty when they are the same
  };

private:
  std::vector<float> weights_of(Model model);
  std::vector<float> average();
  bool is_worker() const { return !parts_.roles.is_server; }

  Parts parts_;
  Model chosen_;
};

} // namespace dt::engine
