#include "engine/comm/machine/shared_window.hpp"

#include <cstdint>
#include <cstring>
#include <exception>

namespace dt::comm {
namespace {

constexpr std::uintptr_t alignment = 128;

std::byte* aligned(void* address)
{
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::byte*>(address) + ((alignment - number % alignment) % alignment);
}

// Asks for parts that are not contiguous: each rank's part then begins on its own page, and pages can lie near different cores.
MPI_Win allocate(Communicator& node, std::size_t bytes)
{
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  check_mpi(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
  MPI_Win window = MPI_WIN_NULL;
  void* mine = nullptr;
  const int code =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, node.handle(), static_cast<void*>(&mine), &window);
  MPI_Info_free(&info);
  check_mpi(code, "MPI_Win_allocate_shared");
  return window;
}

} // namespace

SharedWindow::SharedWindow(Communicator& node, std::size_t part_bytes)
    : errors_before_(std::uncaught_exceptions()), window_(allocate(node, part_bytes + alignment))
{
  for (int rank = 0; rank < node.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    void* address = nullptr;
    check_mpi(MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&address)), "MPI_Win_shared_query");
    parts_.push_back(aligned(address));
  }
  std::memset(parts_[static_cast<std::size_t>(node.rank())], 0, part_bytes);
  node.barrier();
}

SharedWindow::~SharedWindow()
{
  if (std::uncaught_exceptions() == errors_before_) MPI_Win_free(&window_);
}

} // namespace dt::comm
