#include "engine/sync/exchange/exchanges.hpp"

#include "core/error.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/vectors.hpp"
#include "engine/sync/machine/communication_thread.hpp"
#include "engine/sync/machine/progress_thread.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dt::sync {
namespace {

// A sum that its device moves on.
class Begun : public comm::PendingSum {
 public:
  bool advance() override { return true; }
  void wait() override {}
};

// `none`: the thread that waits for an exchange makes the whole call.
class BlockingExchanges : public Exchanges {
 public:
  void begin(Exchange exchange) override { calls_.push_back({std::move(exchange.at_once), {}}); }
  void wait(std::size_t i) override
  {
    auto& [call, times] = calls_[i];
    times.begin_s = comm::monotonic_s();
    call();
    times.end_s = comm::monotonic_s();
  }
  void clear() override { calls_.clear(); } // an exchange that was not waited for has not begun
  Times times(std::size_t i) const override { return calls_[i].times; }

 private:
  struct Call {
    std::function<void()> call;
    Times times;
  };
  std::vector<Call> calls_;
};

// `poll`: the computing thread advances all exchanges whenever advance() is called, and a thread beside it at short intervals.
class PolledExchanges : public Exchanges {
 public:
  // beside: false if the computing thread communicates during its pass by itself; then nothing moves on between two calls.
  explicit PolledExchanges(bool beside)
  {
    if (beside) thread_.emplace([this] { return advance_first(sums_at_a_look); });
  }
  void begin(Exchange exchange) override
  {
    alone([&] {
      auto pending = exchange.in_steps ? exchange.in_steps() : comm::call_when_waited_for(std::move(exchange.at_once));
      sums_.push_back({std::move(pending), {comm::monotonic_s(), 0}});
      return true;
    });
  }
  void advance() override
  {
    alone([this] { return advance_first(sums_.size()); });
  }
  bool is_polled() const override { return true; }
  void wait(std::size_t i) override
  {
    alone([&] {
      wait_alone(i);
      return has_work();
    });
  }
  void clear() override
  {
    alone([this] {
      for (std::size_t i = 0; i < sums_.size(); ++i) wait_alone(i);
      sums_.clear();
      return false;
    });
  }
  // After wait() nothing changes the times.
  Times times(std::size_t i) const override { return sums_[i].times; }
  std::vector<std::pair<std::string, std::string>> facts() override
  {
    const auto looks = thread_ ? thread_->looks() : ProgressThread::Looks();
    if (looks.count == 0) return {};
    return {{"polling", fmt::format("{} looks beside the computation took {:.3g} s", looks.count, looks.busy_s)}};
  }

 private:
  struct Sum {
    std::unique_ptr<comm::PendingSum> pending;
    Times times;
    bool done = false;
  };
  void alone(const std::function<bool()>& call)
  {
    if (thread_)
      thread_->alone(call);
    else
      call();
  }
  // Advances the first `count` sums that are not complete. Returns whether some sum is not complete then.
  bool advance_first(std::size_t count)
  {
    for (auto& sum : sums_) {
      if (sum.done) continue;
      if (count-- == 0) break;
      if (sum.pending->advance()) finish(sum);
    }
    return has_work();
  }
  bool has_work() const { return !std::ranges::all_of(sums_, &Sum::done); }
  void wait_alone(std::size_t i)
  {
    if (sums_[i].done) return;
    sums_[i].pending->wait();
    finish(sums_[i]);
  }
  static void finish(Sum& sum)
  {
    sum.done = true;
    sum.times.end_s = comm::monotonic_s();
  }
  // Sums share the links and come to their ends in about the order of begin(), so a look at later ones mostly finds nothing.
  static constexpr std::size_t sums_at_a_look = 4;
  std::vector<Sum> sums_;
  std::optional<ProgressThread> thread_; // last member: it uses the others
};

// `thread`: another thread makes all calls; the computing thread must not communicate until it has waited for all of them.
class ThreadedExchanges : public Exchanges {
 public:
  explicit ThreadedExchanges(const std::optional<SpareCore>& spare)
      : place_(spare ? fmt::format("core {} of its own", spare->core) : "shares cores with the compute threads"), thread_(spare)
  {
  }
  void begin(Exchange exchange) override
  {
    times_.push_back(std::make_unique<Times>());
    thread_.give([call = std::move(exchange.at_once), times = times_.back().get()] {
      times->begin_s = comm::monotonic_s();
      call();
      times->end_s = comm::monotonic_s();
    });
  }
  void wait(std::size_t i) override { thread_.wait_for(before_ + i + 1); }
  void clear() override
  {
    thread_.wait_for(thread_.given());
    before_ = thread_.given();
    times_.clear();
  }
  Times times(std::size_t i) const override { return *times_[i]; }
  std::vector<std::pair<std::string, std::string>> facts() override { return {{"communication thread", place_}}; }

 private:
  std::string place_;
  std::size_t before_ = 0;                    // tasks given before the last clear()
  std::vector<std::unique_ptr<Times>> times_; // pointers, because tasks keep their addresses
  CommunicationThread thread_;                // last member: its tasks use the others
};

// Advances exchanges between two layers of the backward pass, besides what moves on during a layer.
class Poller : public GradientListener {
 public:
  Poller(Exchanges& exchanges, PhaseClock& clock) : exchanges_(exchanges), clock_(clock) {}
  void gradients_ready(Range) override
  {
    clock_.begin_communication();
    exchanges_.advance();
    clock_.end_communication();
  }

 private:
  Exchanges& exchanges_;
  PhaseClock& clock_;
};

bool has_thread(const StrategyParts& parts) { return parts.sync.progress == ProgressMode::thread && parts.comm.size() > 1; }

std::optional<SpareCore> spare_core(const StrategyParts& parts)
{
  const auto places = comm::gather_places(parts.comm);
  const auto spare = find_spare_core(places, parts.comm.rank(), parts.threads);
  if (spare || parts.oversubscribe) return spare;
  const auto& mine = places[static_cast<std::size_t>(parts.comm.rank())];
  throw Error(
      ErrorKind::run,
      fmt::format("sync.progress: thread needs one core more than the compute threads, and rank {} on {} has none: its mask is "
                  "{}, and resources.threads_per_rank is {}. Give the job more cores, lower resources.threads_per_rank, take "
                  "sync.progress: poll, or set resources.oversubscribe: true (timings then mean little).",
                  parts.comm.rank(), mine.host, mask_text(mine.cores), parts.threads));
}

} // namespace

Exchange sum_exchange(comm::Allreduce& allreduce, std::span<float> values)
{
  return {[&allreduce, values] { allreduce.sum(values); }, [&allreduce, values] { return allreduce.begin(values); }};
}

void sum_over_ranks(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& values)
{
  if (!values.can_sum_on_device()) return allreduce.sum(values.host());
  values.sum_on_device(comm.world_ranks());
  comm.traffic().bytes += comm::bandwidth_optimal_bytes(values.size() * sizeof(float), comm.size());
  comm.traffic().messages += 1;
}

Exchange sum_exchange(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& values)
{
  if (!values.can_sum_on_device()) return sum_exchange(allreduce, values.host());
  const auto sum = [&allreduce, &comm, values] { sum_over_ranks(allreduce, comm, values); };
  return {sum, [sum] {
            sum();
            return std::make_unique<Begun>();
          }};
}

Exchange sum_exchange(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& from, const Vector& to)
{
  if (to.can_sum_on_device() && to.combine_on_device(0, from, 1)) return sum_exchange(allreduce, comm, to);
  const auto values = from.read();
  const auto sums = to.host();
  // Sums in steps are in place. The thread that sends a message also copies it.
  return {[&allreduce, values, sums] { allreduce.sum(values, sums); },
          [&allreduce, values, sums] {
            comm::copy_to(values, sums);
            return allreduce.begin(sums);
          }};
}

BatchLoss compute_beside(Exchanges& exchanges, Replica& replica, comm::Communicator& comm, PhaseClock& clock)
{
  comm.activity().enter(comm::Doing::works, "computes gradients");
  Poller poller(exchanges, clock);
  try {
    return replica.compute(exchanges.is_polled() ? &poller : nullptr);
  } catch (...) {
    exchanges.clear();
    throw;
  }
}

std::vector<std::pair<std::string, std::string>> facts_of(const comm::Allreduce* allreduce, Exchanges& exchanges)
{
  std::vector<std::pair<std::string, std::string>> facts;
  if (allreduce != nullptr) facts = allreduce->facts();
  for (auto& fact : exchanges.facts()) facts.push_back(std::move(fact));
  return facts;
}

std::unique_ptr<Exchanges> make_exchanges(const StrategyParts& parts)
{
  if (has_thread(parts)) return std::make_unique<ThreadedExchanges>(spare_core(parts));
  if (parts.sync.progress == ProgressMode::poll && parts.comm.size() > 1)
    return std::make_unique<PolledExchanges>(!parts.sums_in_pass);
  return std::make_unique<BlockingExchanges>();
}

} // namespace dt::sync
