#include "engine/bench/comm/bench_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace dt::bench {
namespace {

bool has_launcher()
{
  constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::any_of(names.begin(), names.end(), [](const char* name) { return std::getenv(name) != nullptr; });
}

} // namespace

BenchRanks::BenchRanks(const std::string& allreduce)
{
  if (!has_launcher()) return;
  world_.emplace();
  comm_.emplace(MPI_COMM_WORLD);
  if (comm_->size() > 1) allreduce_ = comm::make_allreduce({.algorithm = allreduce}, *comm_);
  shares_ = comm_->size() > 1 && allreduce == "hierarchical" && comm::topology_of_hosts(*comm_, 0).nodes() == 1;
}

std::unique_ptr<comm::SharedVectors> BenchRanks::make_vectors(const comm::SharedVectors::Shape& shape)
{
  return std::make_unique<comm::SharedVectors>(*comm_, shape);
}

void BenchRanks::sum(std::span<float> values)
{
  if (allreduce_) allreduce_->sum(values);
}

double BenchRanks::of_root(double value)
{
  std::array shared{is_root() ? value : 0.0};
  if (comm_) comm_->sum_record(shared);
  return shared[0];
}

std::string BenchRanks::text_of_root(const std::function<std::string()>& make)
{
  std::string text;
  if (is_root()) text = make();
  if (!comm_) return text;
  comm_->sleeping_barrier();
  return comm_->broadcast_text(text);
}

std::vector<double> BenchRanks::gather(std::span<const double> values)
{
  return comm_ ? comm_->gather_numbers(values) : std::vector<double>(values.begin(), values.end());
}

std::vector<std::string> BenchRanks::gather(const std::string& text)
{
  return comm_ ? comm_->gather_texts(text) : std::vector{text};
}

void BenchRanks::barrier()
{
  if (comm_) comm_->barrier();
}

} // namespace dt::bench
