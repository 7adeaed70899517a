// Requests of one rank that all ranks carry out, at once or a check later. Started by mpirun with several counts of ranks.
#include "engine/train/agreement/request_agreement.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace dt;
using namespace dt::train;

namespace {

double no_time_s() { return 0; }

// The last rank's request; the other ranks request nothing.
class LastRank : public Overseer {
 public:
  LastRank(const comm::Communicator& comm, const Request& request)
      : request_(comm.rank() == comm.size() - 1 ? request : Request{})
  {
  }
  Request request() override { return request_; }
  bool is_cancelled() override { return cancelled; }
  void forget() { request_ = {}; }
  bool cancelled = false;

 private:
  Request request_;
};

// The steps after which a checkpoint is written, if the ranks check after every due step of six, or until they stop.
std::vector<std::int64_t> checkpoints(RequestAgreement& agreement, LastRank& overseer)
{
  std::vector<std::int64_t> written;
  agreement.begin();
  for (std::int64_t step = 1; step <= 6 && !agreement.request().stops(); ++step) {
    if (!agreement.is_due(step)) continue;
    agreement.check(step, overseer, [&] {
      written.push_back(step);
      overseer.forget();
    });
  }
  agreement.end();
  return written;
}

} // namespace

TEST_CASE("synchronous ranks meet a request at the check at which it was made, asynchronous ranks at the next check")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const TrainingClock clock({}, no_time_s);
  const bool asynchronous = GENERATE(false, true);
  RequestAgreement agreement({.asynchronous = asynchronous}, clock, comm);
  LastRank overseer(comm, {.checkpoint = true});
  CHECK(checkpoints(agreement, overseer) == std::vector<std::int64_t>{asynchronous ? 2 : 1});
}

TEST_CASE("a stop is agreed with a checkpoint, a cancellation without one, also if one rank hears of it after the stop")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const TrainingClock clock({}, no_time_s);
  const bool asynchronous = GENERATE(false, true);
  const bool cancelled = GENERATE(false, true);
  RequestAgreement agreement({.asynchronous = asynchronous, .steps_done = 0}, clock, comm);
  LastRank overseer(comm, {.preemption = true});
  overseer.cancelled = cancelled && comm.is_root();
  CHECK(checkpoints(agreement, overseer).size() == (cancelled ? 0 : 1));
  CHECK(agreement.request().preemption);
  CHECK(agreement.request().cancel == cancelled);
}

TEST_CASE("the ranks of a resumed attempt check after its first step, and agree on nothing before")
{
  comm::Communicator comm(MPI_COMM_WORLD);
  const TrainingClock clock({}, no_time_s);
  const RequestAgreement agreement({.asynchronous = false, .steps_done = 500}, clock, comm);
  CHECK_FALSE(agreement.is_due(500));
  CHECK(agreement.is_due(501));
  CHECK_FALSE((agreement.request().stops() || agreement.request().asks_for_checkpoint()));
}
