// Records that simulated ranks exchange: they put them into one memory, because messages for them would take the simulator longer
// than those of the training. An exchange takes the time of log2 P short messages in turn.
#include "engine/comm/communicator.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <simgrid/s4u/Barrier.hpp>

namespace dt::comm {
namespace {

// One exchange of the ranks of a communicator. All ranks run on one thread of the simulator, so nothing is locked.
struct Meeting {
  explicit Meeting(int ranks) : everybody(simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))) {}
  simgrid::s4u::BarrierPtr everybody;
  int arrived = 0;
  std::map<int, std::vector<double>> numbers; // by rank
  std::vector<double> reduced;
  std::map<int, std::string> texts;
};

// The meeting that a rank of the communicator joins: the newest one, if it still waits for ranks.
std::shared_ptr<Meeting> next_meeting(const Communicator& comm)
{
  static std::map<std::string, std::shared_ptr<Meeting>> newest; // by the communicator's name
  auto& meeting = newest[comm.name()];
  if (meeting == nullptr || meeting->arrived == comm.size()) meeting = std::make_shared<Meeting>(comm.size());
  ++meeting->arrived;
  return meeting;
}

double exchange_s(const Communicator& comm)
{
  const auto& platform = sim::simulated_machine().platform;
  const bool in_one_node =
      comm.world_rank(0) / platform.ranks_per_node == comm.world_rank(comm.size() - 1) / platform.ranks_per_node;
  return std::ceil(std::log2(comm.size())) * ((in_one_node ? 0 : platform.latency_s) + 2 * platform.message_s);
}

// Calls `put` for this rank's part, waits until all ranks have put theirs, and returns the meeting with all parts.
std::shared_ptr<Meeting> meet(Communicator& comm, const std::function<void(Meeting&)>& put)
{
  const auto meeting = next_meeting(comm);
  put(*meeting);
  meeting->everybody->wait();
  pause_s(exchange_s(comm));
  return meeting;
}

} // namespace

void Communicator::reduce_record(std::span<double> values, MPI_Op op)
{
  const auto meeting = meet(*this, [&](Meeting& all) {
    if (all.reduced.empty()) {
      all.reduced.assign(values.begin(), values.end());
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      all.reduced[i] = op == MPI_SUM ? all.reduced[i] + values[i] : std::max(all.reduced[i], values[i]);
  });
  std::copy(meeting->reduced.begin(), meeting->reduced.end(), values.begin());
}

std::vector<double> Communicator::gather_numbers(std::span<const double> values)
{
  const auto meeting = meet(*this, [&](Meeting& all) { all.numbers[rank_].assign(values.begin(), values.end()); });
  std::vector<double> numbers;
  if (is_root())
    for (const auto& [rank, own] : meeting->numbers) numbers.insert(numbers.end(), own.begin(), own.end());
  return numbers;
}

std::vector<std::string> Communicator::gather_texts(const std::string& text, Receivers receivers)
{
  const auto meeting = meet(*this, [&](Meeting& all) { all.texts[rank_] = text; });
  std::vector<std::string> texts;
  if (receivers == Receivers::all || is_root())
    for (const auto& [rank, own] : meeting->texts) texts.push_back(own);
  return texts;
}

void Communicator::barrier()
{
  meet(*this, [](Meeting&) {});
}

} // namespace dt::comm
