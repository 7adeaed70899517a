#include "engine/train/evaluation/consensus.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>

namespace dt::train {
namespace {

Model choose(const sync::Strategy& strategy, EvaluatedModel wanted)
{
  if (wanted == EvaluatedModel::centre && !strategy.has_centre())
    throw Error(ErrorKind::recipe,
                "sync.evaluate: centre asks for a model that this strategy does not have. Take sync.evaluate: auto.");
  if (strategy.has_centre() && (wanted == EvaluatedModel::centre || wanted == EvaluatedModel::automatic)) return Model::centre;
  if (strategy.replicated()) return Model::common;
  return wanted == EvaluatedModel::worker ? Model::worker : Model::average;
}

} // namespace

std::string_view name_of(Model model)
{
  constexpr std::array<std::string_view, 4> names{"common", "centre", "worker", "average"};
  return names[static_cast<std::size_t>(model)];
}

Consensus::Consensus(const Parts& parts, EvaluatedModel wanted) : parts_(parts), chosen_(choose(parts.strategy, wanted)) {}

std::vector<Model> Consensus::models() const
{
  std::vector<Model> all;
  if (parts_.strategy.has_centre()) all.push_back(Model::centre);
  if (parts_.strategy.replicated())
    all.push_back(Model::common);
  else
    all.insert(all.end(), {Model::worker, Model::average});
  return all;
}

std::vector<float> Consensus::weights_of(Model model)
{
  if (model == Model::common && parts_.roles.servers.empty()) return {};
  if (model == Model::average) return average();
  const auto own = parts_.replica.weights();
  std::vector<float> weights(own.begin(), own.end());
  if (model == Model::centre)
    parts_.strategy.read_centre(parts_.replica, weights);
  else
    parts_.comm.broadcast_record(weights);
  return weights;
}

// 1/P sum_i W^i over the workers. Collective.
std::vector<float> Consensus::average()
{
  const auto own = parts_.replica.weights();
  std::vector<float> sum(own.size(), 0.0F);
  if (is_worker()) std::copy(own.begin(), own.end(), sum.begin());
  parts_.comm.sum_record(std::span<float>(sum));
  const float share = 1.0F / static_cast<float>(parts_.roles.workers.size());
  for (auto& weight : sum) weight *= share;
  return sum;
}

Consensus::Loan::Loan(Consensus& consensus, Model model)
    : weights_(consensus.parts_.replica.weights()), others_(consensus.weights_of(model))
{
  exchange();
}

void Consensus::Loan::exchange() { std::swap_ranges(others_.begin(), others_.end(), weights_.begin()); }

} // namespace dt::train
