// Consensus: the models that a training has under its strategy, and their evaluation in place of a rank's own weights.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"

#include <string>
#include <vector>

namespace dt::train {

enum class Model {
  common,  // the model that all workers share
  centre,  // the strategy's centre
  worker,  // rank 0's model
  average, // mean of the workers' models
};
std::string_view name_of(Model model);

class Consensus {
 public:
  // References must outlive the Consensus.
  struct Parts {
    sync::Replica& replica;
    sync::Strategy& strategy;
    const sync::Roles& roles;
    comm::Communicator& comm;
  };
  // wanted: throws a recipe error if it is the centre and the strategy has no centre.
  Consensus(const Parts& parts, EvaluatedModel wanted);

  // The model that evaluations use.
  Model chosen() const { return chosen_; }
  // All models of the strategy. Only one if the ranks are replicated and there is no centre.
  std::vector<Model> models() const;

  // While a Loan exists, every rank's replica holds that model. Its destructor restores the rank's own weights bit for bit.
  // Allowed only between two steps. The traffic is not counted. The constructor is collective.
  class Loan {
   public:
    Loan(Consensus& consensus, Model model);
    ~Loan() { exchange(); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    void exchange();
    std::span<float> weights_;
    std::vector<float> others_; // first the model, then the rank's own weights; empty if both are the same
  };

 private:
  std::vector<float> weights_of(Model model);
  std::vector<float> average();
  bool is_worker() const { return !parts_.roles.is_server; }

  Parts parts_;
  Model chosen_;
};

} // namespace dt::train
