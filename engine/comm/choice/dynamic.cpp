#include "engine/comm/choice/dynamic.hpp"

#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/choice/time_allreduces.hpp"
#include "engine/comm/machine/clock.hpp"

#include <utility>

#include <fmt/format.h>

namespace dt::comm {

// A sum in progress by one of the algorithms. Another rank may be waiting for an earlier sum that needs this rank, so all ranks
// complete sums in the order of begin().
class DynamicAllreduce::Pending : public PendingSum {
 public:
  Pending(DynamicAllreduce& home, std::size_t algorithm, std::span<float> values)
      : home_(home), algorithm_(algorithm), bytes_(values.size_bytes()), sum_(home.made(algorithm).begin(values))
  {
    home_.under_way_.push_back(this);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() override { std::erase(home_.under_way_, this); }
  bool advance() override
  {
    done_ = done_ || sum_->advance();
    return done_;
  }
  void wait() override
  {
    for (auto* pending : home_.under_way_) {
      pending->wait_alone();
      if (pending == this) return;
    }
  }
  void wait_alone()
  {
    if (!std::exchange(done_, true)) home_.timed(algorithm_, bytes_, [this] { sum_->wait(); });
  }

 private:
  DynamicAllreduce& home_;
  std::size_t algorithm_, bytes_;
  std::unique_ptr<PendingSum> sum_;
  bool done_ = false;
};

DynamicAllreduce::DynamicAllreduce(const AllreduceOptions& options, Communicator& comm)
    : DynamicAllreduce(kept_or_fresh_timings(options, comm), options, comm)
{
}

DynamicAllreduce::DynamicAllreduce(KnownTimings known, const AllreduceOptions& options, Communicator& comm)
    : DynamicAllreduce(std::move(known.timings), options, comm, std::move(known.origin))
{
}

DynamicAllreduce::DynamicAllreduce(AllreduceTimings timings, const AllreduceOptions& options, Communicator& comm,
                                   std::string origin)
    : options_(options), comm_(comm), origin_(std::move(origin)), watch_(timings, choose(timings)),
      bucket_bytes_(best_bucket_bytes(timings, watch_.choices())), allreduces_(timings.algorithms.size())
{
  for (const auto& choice : watch_.choices()) made(choice.algorithm);
}

DynamicAllreduce::~DynamicAllreduce() = default;

// Collective at the first use of an algorithm.
Allreduce& DynamicAllreduce::made(std::size_t algorithm)
{
  auto& allreduce = allreduces_[algorithm];
  if (!allreduce) allreduce = make_allreduce(with_algorithm(options_, watch_.timings().algorithms[algorithm]), comm_);
  return *allreduce;
}

std::size_t DynamicAllreduce::next(std::size_t bytes)
{
  const auto algorithm = watch_.algorithm_for(bytes);
  watch_.expect_sum(bytes);
  return algorithm;
}

void DynamicAllreduce::timed(std::size_t algorithm, std::size_t bytes, const std::function<void()>& call)
{
  const double begin_s = monotonic_s();
  call();
  const double seconds = monotonic_s() - begin_s;
  watch_.waited(bytes, options_.seen_s ? options_.seen_s(watch_.timings().algorithms[algorithm], bytes, seconds) : seconds);
}

void DynamicAllreduce::finish_begun()
{
  if (!under_way_.empty()) under_way_.back()->wait();
}

void DynamicAllreduce::sum(std::span<float> values)
{
  finish_begun();
  const auto algorithm = next(values.size_bytes());
  auto& allreduce = made(algorithm);
  timed(algorithm, values.size_bytes(), [&] { allreduce.sum(values); });
}

void DynamicAllreduce::sum(std::span<const float> values, std::span<float> result)
{
  finish_begun();
  const auto algorithm = next(values.size_bytes());
  auto& allreduce = made(algorithm);
  timed(algorithm, values.size_bytes(), [&] { allreduce.sum(values, result); });
}

std::unique_ptr<PendingSum> DynamicAllreduce::begin(std::span<float> values)
{
  return std::make_unique<Pending>(*this, next(values.size_bytes()), values);
}

// No rank has a sum in progress that another rank waits for, so this exchange cannot block.
void DynamicAllreduce::end_step()
{
  if (comm_.size() == 1 || !watch_.end_step()) return;
  const auto seen = watch_.seen();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(seen.size()), MPI_DOUBLE, MPI_MIN, comm_.handle()),
            "MPI_Allreduce");
  watch_.look();
  for (const auto algorithm : watch_.contenders()) made(algorithm);
}

std::string DynamicAllreduce::choice() const
{
  return fmt::format("{}; buckets of {}", in_words(watch_.choices(), watch_.timings().algorithms),
                     format_bytes(static_cast<double>(bucket_bytes_)));
}

std::vector<std::pair<std::string, std::string>> DynamicAllreduce::facts() const
{
  std::vector<std::pair<std::string, std::string>> facts{{"allreduce", choice()}, {"allreduce timings", origin_}};
  if (comm_.size() == 1) return facts;
  facts.emplace_back("allreduce model", in_words(watch_.timings().model));
  if (!watch_.last_look().empty()) facts.emplace_back("allreduce seen", watch_.last_look());
  if (!watch_.changes().empty()) facts.emplace_back("allreduce reconsidered", join(watch_.changes(), "; "));
  return facts;
}

} // namespace dt::comm
