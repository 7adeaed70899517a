// A simulated progress thread: the rank's one actor looks at intervals while the computing thread passes time. Both threads share
// a core, so what a look takes delays the computation.
#include "engine/sync/machine/progress_thread.hpp"

#include "engine/sim/machine/rank_time.hpp"

#include <utility>

namespace dt::sync {

class ProgressThread::Worker : public sim::InterruptingWork {
 public:
  explicit Worker(std::function<bool()> advance) : advance_(std::move(advance)), amid_(*this) {}
  void alone(const std::function<bool()>& call)
  {
    has_work_ = false; // no looks during the call
    has_work_ = call();
  }
  Looks looks() const { return looks_; }
  bool has_work() const override { return has_work_; }
  void look() override
  {
    const double begin_s = sim::thread_clock_s();
    has_work_ = advance_();
    looks_ = {looks_.count + 1, looks_.busy_s + sim::thread_clock_s() - begin_s};
  }

 private:
  std::function<bool()> advance_;
  bool has_work_ = false;
  Looks looks_;
  sim::AmidComputation amid_; // last member: it uses the others
};

ProgressThread::ProgressThread(std::function<bool()> advance) : worker_(std::make_unique<Worker>(std::move(advance))) {}
ProgressThread::~ProgressThread() = default;
void ProgressThread::alone(const std::function<bool()>& call) { worker_->alone(call); }
ProgressThread::Looks ProgressThread::looks() { return worker_->looks(); }

} // namespace dt::sync
