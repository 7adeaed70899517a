#include "engine/sync/exchange/communication_thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <sched.h>
#include <unistd.h>

namespace dt::sync {
namespace {

bool overlap(const std::vector<int>& one, const std::vector<int>& other)
{
  return std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end();
}

void confine(pid_t thread, const std::vector<int>& cores)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(thread, sizeof set, &set); // fails for a thread that has just ended; that does no harm
}

std::vector<int> cores_of_this_thread()
{
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  return cores;
}

// Sets the mask of every thread: compute threads may already run, and each thread has its own mask.
void keep_threads_off(const std::vector<int>& cores)
{
  std::vector<int> left;
  for (const int core : cores_of_this_thread())
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) left.push_back(core);
  if (left.empty()) return;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    confine(static_cast<pid_t>(std::atoi(task.path().filename().c_str())), left);
}

} // namespace

std::optional<SpareCore> find_spare_core(const std::vector<comm::RankPlace>& places, int rank, std::int64_t threads_per_rank)
{
  const auto& mine = places[static_cast<std::size_t>(rank)];
  std::size_t sharers = 0, before = 0;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].host != mine.host || !overlap(places[r].cores, mine.cores)) continue;
    if (places[r].cores != mine.cores) return std::nullopt;
    ++sharers;
    before += r < static_cast<std::size_t>(rank) ? 1 : 0;
  }
  if (sharers * (static_cast<std::size_t>(threads_per_rank) + 1) > mine.cores.size()) return std::nullopt;
  const std::vector<int> last(mine.cores.end() - static_cast<std::ptrdiff_t>(sharers), mine.cores.end());
  return SpareCore{last[before], last};
}

CommunicationThread::CommunicationThread(const std::optional<SpareCore>& spare)
{
  if (spare) keep_threads_off(spare->others);
  thread_ = std::thread([this, spare] {
    if (spare) confine(0, {spare->core});
    work();
  });
}

CommunicationThread::~CommunicationThread()
{
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CommunicationThread::give(std::function<void()> task)
{
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++given_;
  }
  changed_.notify_all();
}

void CommunicationThread::wait_for(std::size_t tasks)
{
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= tasks; });
  if (failure_) std::rethrow_exception(failure_);
}

void CommunicationThread::work()
{
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    const bool goes_on = !failure_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (goes_on) task();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    ++done_;
    changed_.notify_all();
  }
}

} // namespace dt::sync
