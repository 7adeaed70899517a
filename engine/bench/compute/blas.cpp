#include "engine/bench/compute/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace dt::bench {
namespace {

template<class Function> bool find(void* library, const char* name, Function& found)
{
  found = reinterpret_cast<Function>(::dlsym(library, name));
  return found != nullptr;
}

} // namespace

std::optional<Blas> Blas::load()
{
  void* library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL); // stays loaded: its threads live until the program's end
  Blas blas;
  if (library == nullptr || !find(library, "cblas_sgemm", blas.sgemm_) ||
      !find(library, "openblas_set_num_threads", blas.set_threads_) || !find(library, "openblas_get_config", blas.config_) ||
      !find(library, "openblas_get_corename", blas.core_))
    return {};
  return blas;
}

std::string Blas::name() const { return fmt::format("{}, kernels of {}", config_(), core_()); }

void Blas::multiply(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t columns, std::int64_t inner, bool adds,
                    float* result) const
{
  constexpr int row_major = 101, plain = 111, transposed = 112; // the C interface's own numbers
  const auto whole = [](std::int64_t number) { return static_cast<int>(number); };
  sgemm_(row_major, a.transposed ? transposed : plain, b.transposed ? transposed : plain, whole(rows), whole(columns),
         whole(inner), 1.0F, a.numbers, whole(a.row_size), b.numbers, whole(b.row_size), adds ? 1.0F : 0.0F, result,
         whole(columns));
}

} // namespace dt::bench
