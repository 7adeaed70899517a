#include "engine/comm/machine/ranks/shared_memory.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/units.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dt::comm {
namespace {

// A file descriptor that is closed at the end of its scope; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor()
  {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

int created(const std::string& name, std::size_t bytes)
{
  const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  return -1;
}

// Opens another process's file. The name is compared first: in another namespace of process numbers, the path may lead to some
// other process.
int opened(const std::string& path, const std::string& name)
{
  std::array<char, 256> link{};
  const auto length = ::readlink(path.c_str(), link.data(), link.size());
  if (length < 0 || std::string_view(link.data(), static_cast<std::size_t>(length)) != "/memfd:" + name + " (deleted)") return -1;
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

bool all_agree(Communicator& node, bool mine)
{
  std::array refusals{mine ? 0.0 : 1.0};
  node.sum_record(refusals);
  return refusals[0] == 0;
}

// The first multiple of `alignment` from `address` on.
std::byte* aligned(void* address, std::uintptr_t alignment)
{
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::byte*>(address) + ((alignment - number % alignment) % alignment);
}

} // namespace

SharedMemory::SharedMemory(Communicator& node, std::size_t bytes) : errors_before_(std::uncaught_exceptions()), size_(bytes)
{
  if (!map_own_file(node)) take_window(node);
}

SharedMemory::~SharedMemory()
{
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
  if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() == errors_before_) MPI_Win_free(&window_);
}

// Rank 0 makes an anonymous file, and the others open it through its process's folder in /proc. Returns false on all ranks if one
// of them cannot: the ranks may be in different containers.
bool SharedMemory::map_own_file(Communicator& node)
{
  const std::size_t whole = std::max<std::size_t>(size_, 1);
  std::string name;
  if (node.is_root()) name = fmt::format("dtctl-{}-{:08x}", ::getpid(), std::random_device()());
  name = node.broadcast_text(name);
  const Descriptor own(node.is_root() ? created(name, whole) : -1);
  const auto path = node.broadcast_text(own.number() >= 0 ? fmt::format("/proc/{}/fd/{}", ::getpid(), own.number()) : "");
  const Descriptor others(node.is_root() || path.empty() ? -1 : opened(path, name));
  const int file = node.is_root() ? own.number() : others.number();
  if (file >= 0) {
    // Addresses for a huge page more than needed are reserved; the file is mapped at the first multiple of a huge page in them.
    const auto spare = whole < huge_page_bytes ? 0 : huge_page_bytes;
    void* reserved = ::mmap(nullptr, whole + spare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved != MAP_FAILED) {
      mapping_ = reserved;
      mapped_bytes_ = whole + spare;
      auto* place = spare == 0 ? static_cast<std::byte*>(reserved) : aligned(reserved, huge_page_bytes);
      if (::mmap(place, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) data_ = place;
    }
  }
  const bool all = all_agree(node, data_ != nullptr); // before rank 0 closes the file
  if (!all && mapping_ != nullptr) {
    ::munmap(mapping_, mapped_bytes_);
    mapping_ = nullptr;
    data_ = nullptr;
  }
#if defined(MADV_HUGEPAGE)
  if (all && size_ >= huge_page_bytes) ::madvise(data_, size_, MADV_HUGEPAGE); // if refused, normal pages are used
#endif
  return all;
}

void SharedMemory::take_window(Communicator& node)
{
  constexpr std::uintptr_t page = 4096;
  const bool is_root = node.is_root();
  void* mine = nullptr;
  check_mpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(is_root ? size_ + page : 0), 1, MPI_INFO_NULL, node.handle(),
                                    static_cast<void*>(&mine), &window_),
            "MPI_Win_allocate_shared");
  MPI_Aint size = 0;
  int unit = 0;
  void* address = nullptr;
  check_mpi(MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&address)), "MPI_Win_shared_query");
  data_ = aligned(address, page);
}

std::string huge_pages_of_shared_memory()
{
  const auto text = read_file_if_exists("/sys/kernel/mm/transparent_hugepage/shmem_enabled").value_or("");
  const auto begin = text.find('['), end = text.find(']');
  return begin == std::string::npos || end < begin ? "" : text.substr(begin + 1, end - begin - 1);
}

} // namespace dt::comm
