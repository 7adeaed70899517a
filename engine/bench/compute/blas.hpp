// Blas: matrix products of OpenBLAS, where this machine has it. It is loaded at run time, because only a comparison needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dt::bench {

// A matrix in row-major order.
struct Matrix {
  const float* numbers;
  std::int64_t row_size; // as it lies in memory
  bool transposed = false;
};

class Blas {
 public:
  // Nothing: libopenblas.so.0 is not installed.
  static std::optional<Blas> load();

  // Its version, threads and the processor whose kernels it took; OPENBLAS_CORETYPE names others.
  std::string name() const;
  void set_threads(int threads) const { set_threads_(threads); }
  // result = a b, or result += a b; `rows` x `columns` sums of `inner` products. May be called by several threads after
  // set_threads(1).
  void multiply(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t columns, std::int64_t inner, bool adds,
                float* result) const;

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int rows, int columns, int inner, float alpha,
                         const float* a, int row_a, const float* b, int row_b, float beta, float* result, int row_result);
  Blas() = default;
  Sgemm sgemm_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  const char* (*config_)() = nullptr;
  const char* (*core_)() = nullptr;
};

} // namespace dt::bench
