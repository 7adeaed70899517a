#include "engine/sim/machine/rank_time.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <simgrid/s4u.hpp>

namespace dt::sim {
namespace {

namespace s4u = simgrid::s4u;

struct RankTime {
  BackgroundWork* beside = nullptr; // of the communication thread
  bool runs_beside = false;         // whether the communication thread runs, not the computing thread
  double late_s = 0;                // by which the computing thread's clock is behind the simulator's
  CapturedTime* captured = nullptr;
  InterruptingWork* amid = nullptr; // of the progress thread
  bool looks = false;               // whether the progress thread runs
};

// The state of each rank that has a communication thread or a progress thread, or whose time is being captured. Key: the id of
// the rank's actor.
std::unordered_map<aid_t, RankTime>& rank_times()
{
  static std::unordered_map<aid_t, RankTime> times;
  return times;
}

// That of the calling rank; null if it has none.
RankTime* own_time()
{
  auto& times = rank_times();
  if (times.empty()) return nullptr;
  const auto found = times.find(s4u::this_actor::get_pid());
  return found == times.end() ? nullptr : &found->second;
}

RankTime& make_own_time() { return rank_times()[s4u::this_actor::get_pid()]; }

void remove_unused_time()
{
  const auto* own = own_time();
  if (own != nullptr && own->beside == nullptr && own->captured == nullptr && own->amid == nullptr)
    rank_times().erase(s4u::this_actor::get_pid());
}

double clock_s() { return s4u::Engine::get_clock(); }

// When the calling rank's running thread last ended a time that it spent, by its own clock.
double& busy_until_s()
{
  static std::unordered_map<aid_t, std::array<double, 2>> ends; // of the computing thread, of the communication thread
  const auto* own = own_time();
  return ends[s4u::this_actor::get_pid()][own != nullptr && own->runs_beside ? 1 : 0];
}

// The computing thread passes time until `end_s`, and the communication thread's tasks run beside it.
void compute_until(double end_s, RankTime& own)
{
  while (clock_s() < end_s && own.beside->run_next()) {
  }
  if (clock_s() < end_s) s4u::this_actor::sleep_until(end_s);
  own.late_s = std::max(0.0, clock_s() - end_s);
}

// The computing thread passes time, and the progress thread interrupts it. The intervals are about those of the real thread; long
// ones of a long computation keep the number of events small.
void compute_with_looks(double seconds, RankTime& own)
{
  constexpr double shortest_s = 500e-6, most_looks = 200;
  const double interval_s = std::max(shortest_s, seconds / most_looks);
  for (; seconds > interval_s && own.amid->has_work(); seconds -= interval_s) {
    s4u::this_actor::sleep_for(interval_s);
    own.looks = true;
    busy_until_s() = clock_s();
    own.amid->look();
    own.looks = false;
  }
  s4u::this_actor::sleep_for(seconds);
}

} // namespace

double thread_clock_s()
{
  const auto* own = own_time();
  if (own == nullptr) return clock_s();
  return clock_s() - (own->runs_beside ? 0 : own->late_s) + (own->captured == nullptr ? 0 : own->captured->seconds_);
}

void spend_s(double seconds)
{
  wait_s(seconds);
  busy_until_s() = thread_clock_s();
}

void wait_s(double seconds)
{
  if (seconds <= 0) return;
  auto* own = own_time();
  if (own != nullptr && own->captured != nullptr)
    own->captured->seconds_ += seconds;
  else if (own != nullptr && own->amid != nullptr && !own->looks)
    compute_with_looks(seconds, *own);
  else if (own == nullptr || own->beside == nullptr || own->runs_beside)
    s4u::this_actor::sleep_for(seconds);
  else
    compute_until(thread_clock_s() + seconds, *own);
}

double idle_s() { return thread_clock_s() - busy_until_s(); }

bool may_block()
{
  const auto* own = own_time();
  if (own == nullptr || own->runs_beside || own->looks) return true;
  return own->beside == nullptr && own->captured == nullptr && (own->amid == nullptr || !own->amid->has_work());
}

BesideComputation::BesideComputation(BackgroundWork& work)
{
  auto& own = make_own_time();
  if (own.beside != nullptr) throw Error(ErrorKind::internal, "a simulated rank has two communication threads");
  own.beside = &work;
}

BesideComputation::~BesideComputation()
{
  auto& own = make_own_time();
  own.beside = nullptr;
  own.late_s = 0;
  remove_unused_time();
}

double BesideComputation::run(const std::function<void()>& task)
{
  struct Running {
    Running() { make_own_time().runs_beside = true; }
    ~Running() { make_own_time().runs_beside = false; }
  };
  const Running running;
  task();
  return clock_s();
}

void BesideComputation::has_waited(double end_s)
{
  auto& own = make_own_time();
  own.late_s = std::min(own.late_s, clock_s() - end_s);
}

AmidComputation::AmidComputation(InterruptingWork& work)
{
  auto& own = make_own_time();
  if (own.amid != nullptr || own.beside != nullptr)
    throw Error(ErrorKind::internal, "a simulated rank has two threads for its communication");
  own.amid = &work;
}

AmidComputation::~AmidComputation()
{
  make_own_time().amid = nullptr;
  remove_unused_time();
}

CapturedTime::CapturedTime()
{
  auto& own = make_own_time();
  if (own.captured != nullptr) throw Error(ErrorKind::internal, "a simulated rank's time is captured twice");
  own.captured = this;
}

CapturedTime::~CapturedTime()
{
  make_own_time().captured = nullptr;
  remove_unused_time();
}

} // namespace dt::sim
