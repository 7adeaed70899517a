// A simulated communication thread: its tasks run on the rank's actor, beside the time that the computing thread passes.
#include "engine/sync/machine/communication_thread.hpp"

#include "engine/sim/machine/rank_time.hpp"

#include <deque>
#include <exception>
#include <utility>

#include <simgrid/Exception.hpp>

namespace dt::sync {

class CommunicationThread::Worker : public sim::BackgroundWork {
 public:
  Worker() : errors_before_(std::uncaught_exceptions()), beside_(*this) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // While an exception unwinds, the other ranks may never take part in a task.
  ~Worker() override
  {
    while (std::uncaught_exceptions() == errors_before_ && run_next()) {
    }
  }
  void give(std::function<void()> task)
  {
    tasks_.push_back(std::move(task));
    ++given_;
  }
  std::size_t given() const { return given_; }
  void wait_for(std::size_t tasks)
  {
    while (waited_ + ends_s_.size() < tasks && run_next()) {
    }
    for (; waited_ < tasks; ++waited_) {
      sim::BesideComputation::has_waited(ends_s_.front());
      ends_s_.pop_front();
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  bool run_next() override
  {
    if (tasks_.empty()) return false;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    ends_s_.push_back(sim::BesideComputation::run([&] { attempt(task); }));
    return true;
  }

 private:
  void attempt(const std::function<void()>& task)
  {
    try {
      if (!failure_) task();
    } catch (const simgrid::ForcefulKillException&) {
      throw; // the simulation ends
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  int errors_before_;
  std::deque<std::function<void()>> tasks_; // that have not begun
  std::deque<double> ends_s_;               // of the tasks that are done and were not waited for
  std::size_t given_ = 0, waited_ = 0;
  std::exception_ptr failure_;
  sim::BesideComputation beside_; // last member: it uses the others
};

CommunicationThread::CommunicationThread(const std::optional<SpareCore>&) : worker_(std::make_unique<Worker>()) {}
CommunicationThread::~CommunicationThread() = default;
void CommunicationThread::give(std::function<void()> task) { worker_->give(std::move(task)); }
std::size_t CommunicationThread::given() const { return worker_->given(); }
void CommunicationThread::wait_for(std::size_t tasks) { worker_->wait_for(tasks); }

} // namespace dt::sync
