#include "engine/sync/exchange/lock_free_server.hpp"

namespace dt::sync {

LockFreeServer::LockFreeServer(std::int64_t threads, std::size_t floats, Update update)
    : update_(std::move(update)), tasks_(static_cast<std::size_t>(threads)),
      threads_(threads, [this](std::size_t number) { work(tasks_[number]); })
{
  for (std::size_t number = 0; number < tasks_.size(); ++number) {
    auto& task = tasks_[number];
    for (auto* buffer : {&task.received, &task.answer, &task.scratch}) *buffer = comm::Floats(floats);
    idle_.push_back(number);
  }
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
  } else if (const auto number = threads_.finished(!may_take)) {
    answer(round, *number);
  } else {
    threads_.pause_between_looks();
  }
}

void LockFreeServer::take_request(Round& round)
{
  const auto number = idle_.back();
  idle_.pop_back();
  auto& task = tasks_[number];
  task.request = round.head;
  round.servers.receive(task.request, task.received);
  round.log.add(task.request);
  if (++round.taken < round.exchanges) round.arrival = round.servers.next_begin(round.head);
  threads_.give(number);
}

void LockFreeServer::answer(Round& round, std::size_t number)
{
  auto& task = tasks_[number];
  if (task.failure) std::rethrow_exception(task.failure);
  round.servers.answer(task.request, task.answer);
  idle_.push_back(number);
  ++round.answered;
}

void LockFreeServer::work(Task& task)
{
  try {
    update_(task);
  } catch (const std::exception&) {
    task.failure = std::current_exception();
  }
}

} // namespace dt::sync
