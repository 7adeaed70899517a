#include "engine/sync/exchange/lock_free_server.hpp"

#include "engine/sync/machine/threads.hpp"

#include <omp.h>

namespace dt::sync {
namespace {

template<class T> T take_last(std::vector<T>& values)
{
  const T last = values.back();
  values.pop_back();
  return last;
}

} // namespace

LockFreeServer::LockFreeServer(std::int64_t threads, std::size_t floats, Update update)
    : update_(std::move(update)), tasks_(static_cast<std::size_t>(threads))
{
  require_threads("a parameter server whose threads update one centre (hogwild-sgd, hogwild-easgd with servers)");
  for (auto& task : tasks_) {
    for (auto* buffer : {&task.received, &task.answer, &task.scratch}) *buffer = comm::Floats(floats);
    idle_.push_back(&task);
  }
  for (std::int64_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

LockFreeServer::~LockFreeServer()
{
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  was_given_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void LockFreeServer::serve(std::int64_t exchanges, ParameterServers& servers, UpdateLog& log)
{
  Round round{servers, log, exchanges};
  round.arrival = servers.next_begin(round.head);
  while (round.answered < exchanges) advance(round);
}

// Does what is possible now. It blocks only if just one kind of event can come next. Otherwise it polls, because it waits for
// messages and threads at the same time.
void LockFreeServer::advance(Round& round)
{
  const bool may_take = !round.is_all_taken() && !idle_.empty();
  if (may_take && idle_.size() == tasks_.size()) {
    round.servers.await(round.arrival);
    take_request(round);
  } else if (may_take && round.arrival.test()) {
    take_request(round);
  } else if (Task* task = finished_task(!may_take)) {
    answer(round, *task);
  } else {
    std::this_thread::yield();
  }
}

void LockFreeServer::take_request(Round& round)
{
  Task* task = take_last(idle_);
  task->request = round.head;
  round.servers.receive(task->request, task->received);
  round.log.add(task->request);
  if (++round.taken < round.exchanges) round.arrival = round.servers.next_begin(round.head);
  {
    const std::lock_guard lock(mutex_);
    given_.push_back(task);
  }
  was_given_.notify_one();
}

void LockFreeServer::answer(Round& round, Task& task)
{
  if (task.failure) std::rethrow_exception(task.failure);
  round.servers.answer(task.request, task.answer);
  idle_.push_back(&task);
  ++round.answered;
}

LockFreeServer::Task* LockFreeServer::finished_task(bool wait)
{
  std::unique_lock lock(mutex_);
  if (wait) was_finished_.wait(lock, [&] { return !finished_.empty(); });
  return finished_.empty() ? nullptr : take_last(finished_);
}

// The server's threads already use the cores, so each one must not start an OpenMP team of its own.
void LockFreeServer::work()
{
  omp_set_num_threads(1);
  while (Task* task = next_task()) {
    try {
      update_(*task);
    } catch (const std::exception&) {
      task->failure = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      finished_.push_back(task);
    }
    was_finished_.notify_one();
  }
}

// Null when the server ends.
LockFreeServer::Task* LockFreeServer::next_task()
{
  std::unique_lock lock(mutex_);
  was_given_.wait(lock, [&] { return ends_ || !given_.empty(); });
  return given_.empty() ? nullptr : take_last(given_);
}

} // namespace dt::sync
