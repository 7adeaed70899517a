#include "engine/train/evaluation/evaluator.hpp"

#include "engine/data/reading/read_range.hpp"

#include <algorithm>
#include <array>

namespace dt::train {

namespace {

// The evaluation network exists beside the trained one and shares its weights, so only the remaining memory is its limit.
nn::NetworkOptions beside(const nn::Network& trained)
{
  auto options = trained.options();
  if (options.memory_limit_bytes > 0)
    options.memory_limit_bytes = std::max<std::int64_t>(1, options.memory_limit_bytes - trained.memory().activations);
  return options;
}

} // namespace

Evaluator::Evaluator(const nn::Network& trained, const data::Source& source, comm::Communicator& comm)
    : network_(beside(trained), trained), source_(source), comm_(comm),
      share_(data::shard(source.size(), comm.rank(), comm.size())),
      images_(static_cast<std::size_t>(network_.options().batch * network_.options().image.size())),
      labels_(static_cast<std::size_t>(network_.options().batch))
{
}

nn::Evaluation Evaluator::evaluate()
{
  comm_.activity().enter(comm::Doing::works, "evaluates");
  nn::Evaluation mine;
  const auto batch = network_.options().batch;
  for (auto begin = share_.begin; begin < share_.end; begin += batch) {
    load(begin, std::min(begin + batch, share_.end));
    const auto part = network_.evaluate(images_, labels_);
    comm_.activity().advance();
    mine.loss_sum += part.loss_sum;
    mine.correct += part.correct;
    mine.samples += part.samples;
  }
  comm_.activity().enter(comm::Doing::waits, "waits for the other ranks' evaluations");
  std::array sums{mine.loss_sum, static_cast<double>(mine.correct), static_cast<double>(mine.samples)};
  comm_.sum_record(sums);
  return {sums[0], static_cast<std::int64_t>(sums[1]), static_cast<std::int64_t>(sums[2])};
}

void Evaluator::load(std::int64_t begin, std::int64_t end)
{
  std::fill(labels_.begin(), labels_.end(), -1);
  replaced_samples_ += data::read_range(source_, {begin, end}, network_.options().threads, images_.data(), labels_.data());
}

} // namespace dt::train
