// SharedMemory: memory that all ranks of a node map.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstddef>
#include <string>

namespace dt::comm {

// From this size, vectors in shared memory begin at a multiple of it, so that huge pages can hold them.
inline constexpr std::size_t huge_page_bytes = 2 << 20;

class SharedMemory {
 public:
  // Maps `bytes` zero bytes, equally many on all ranks of `node`, which must share memory. The start is aligned to
  // huge_page_bytes if there are that many bytes, otherwise to a page. A page lies in the memory nearest to the core that first
  // writes to it. Huge pages are used where the system gives them on request. Throws an environment error if there is no memory.
  // Collective.
  SharedMemory(Communicator& node, std::size_t bytes);
  // Where has_own_file() is false, collective, except while an exception unwinds: the other ranks may then never arrive, and the
  // end of the program frees the memory.
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Whether the memory is an anonymous file of our own, which no size of /dev/shm limits, and not a window of the MPI library.
  bool has_own_file() const { return window_ == MPI_WIN_NULL; }

 private:
  bool map_own_file(Communicator& node);
  void take_window(Communicator& node);

  int errors_before_;
  std::size_t size_;
  std::byte* data_ = nullptr;
  void* mapping_ = nullptr; // begins up to a huge page before data_
  std::size_t mapped_bytes_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
};

// What the system does when shared memory asks for huge pages, in the words of its setting: "advise", "never"; empty if it does
// not say.
std::string huge_pages_of_shared_memory();

} // namespace dt::comm
