#include "engine/comm/machine/doorbell.hpp"

#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dt::comm {
namespace {

// Not FUTEX_PRIVATE_FLAG: the word is shared by processes.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value)
{
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

} // namespace

void NodeWait::ring() const
{
  bell_->rings.fetch_add(1);
  if (bell_->sleepers.load() > 0) futex(bell_->rings, FUTEX_WAKE, INT_MAX);
}

void NodeWait::sleep_until_rung(std::uint32_t heard) const { futex(bell_->rings, FUTEX_WAIT, heard); }

} // namespace dt::comm
