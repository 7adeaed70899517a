#include "engine/nn/kernels/compute_thread.hpp"

#include <omp.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace dt::nn {
namespace {

void flush_denormals()
{
#if defined(__SSE__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

} // namespace

void prepare_compute_thread(int threads)
{
  omp_set_num_threads(threads);
  flush_denormals();
  if (threads == 1) return;
#pragma omp parallel num_threads(threads)
  flush_denormals();
}

} // namespace dt::nn
