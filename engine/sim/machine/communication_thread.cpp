// Communication threads are not simulated: the simulator binds a rank's calls of MPI to one actor.
#include "engine/sync/machine/communication_thread.hpp"

#include "core/error.hpp"

namespace dt::sync {

class CommunicationThread::Worker {};

CommunicationThread::CommunicationThread(const std::optional<SpareCore>&)
{
  throw Error(ErrorKind::recipe, "dtsim cannot simulate sync.progress: thread yet. Take none or poll.");
}
CommunicationThread::~CommunicationThread() = default;
void CommunicationThread::give(std::function<void()>) {}
std::size_t CommunicationThread::given() const { return 0; }
void CommunicationThread::wait_for(std::size_t) {}

} // namespace dt::sync
