#include "engine/nn/kernels/elementwise.hpp"

#include "core/error.hpp"
#include "core/maths/function_clones.hpp"
#include "core/maths/random.hpp"
#include "engine/nn/kernels/simd_vector.hpp"

#include <algorithm>
#include <cstddef>

namespace dt::nn {
namespace {

constexpr int width = 16;
using Vector = SimdVector<width>;
constexpr std::int64_t chunk = 16 * 1024; // numbers per thread and turn; a multiple of the width

// `size` must be a multiple of the width. `result` may be null: then nothing is masked.
template<class T>
[[gnu::always_inline]] inline void masked_sum(const T* const* parts, int count, const T* result, T* to, std::int64_t size)
{
  for (std::int64_t i = 0; i < size; i += width) {
    auto sum = Vector::load(parts[0] + i);
    for (int part = 1; part < count; ++part) sum += Vector::load(parts[part] + i);
    if (result != nullptr) sum = Vector::load(result + i) > 0 ? sum : Vector::Floats{};
    Vector::store(sum, to + i);
  }
}

template<class T> [[gnu::always_inline]] inline void rectify(const T* from, T* to, std::int64_t size)
{
  for (std::int64_t i = 0; i < size; i += width) {
    const auto values = Vector::load(from + i);
    Vector::store(values > 0 ? values : Vector::Floats{}, to + i);
  }
}

DT_CLONES void masked_sum_of(const float* const* parts, int count, const float* result, float* to, std::int64_t size)
{
  masked_sum(parts, count, result, to, size);
}
DT_CLONES void masked_sum_of(const Bf16* const* parts, int count, const Bf16* result, Bf16* to, std::int64_t size)
{
  masked_sum(parts, count, result, to, size);
}
DT_CLONES void rectify_of(const float* from, float* to, std::int64_t size) { rectify(from, to, size); }
DT_CLONES void rectify_of(const Bf16* from, Bf16* to, std::int64_t size) { rectify(from, to, size); }

bool is_bf16(const dnnl::memory& memory) { return memory.get_desc().data_type() == dnnl::memory::data_type::bf16; }

std::int64_t count_of(const dnnl::memory& memory)
{
  return static_cast<std::int64_t>(memory.get_desc().get_size() / (is_bf16(memory) ? sizeof(Bf16) : sizeof(float)));
}

// Memories are allocated in whole cache lines, so the last vector may extend beyond the last number.
template<class Work> void for_chunks(std::int64_t count, const Work& work)
{
  const std::int64_t whole = (count + width - 1) / width * width;
  const std::int64_t chunks = (whole + chunk - 1) / chunk;
#pragma omp parallel for schedule(static) if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c) work(c * chunk, std::min(chunk, whole - c * chunk));
}

template<class T> T* pointer(const dnnl::memory& memory) { return static_cast<T*>(memory.get_data_handle()); }

constexpr int most_parts = 16;

template<class T> void run_masked_sum(const std::vector<dnnl::memory>& parts, const dnnl::memory* result, const dnnl::memory& to)
{
  for_chunks(count_of(to), [&](std::int64_t begin, std::int64_t size) {
    const T* from[most_parts];
    int count = 0;
    for (const auto& part : parts) from[count++] = pointer<T>(part) + begin;
    masked_sum_of(from, count, result ? pointer<T>(*result) + begin : nullptr, pointer<T>(to) + begin, size);
  });
}

Operation masked_sum_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory* result,
                               const dnnl::memory& to)
{
  if (parts.size() > most_parts)
    throw Error(ErrorKind::recipe,
                "Layer " + label.layer + " feeds more than 16 layers. Let some of them share a layer between.");
  auto uses = parts;
  uses.push_back(to);
  if (result) uses.push_back(*result);
  const bool half = is_bf16(to);
  auto kernel = [parts, kept = result ? *result : dnnl::memory(), to, half] {
    const auto* mask = kept.get(true) ? &kept : nullptr;
    half ? run_masked_sum<Bf16>(parts, mask, to) : run_masked_sum<float>(parts, mask, to);
  };
  return {std::move(label), std::move(uses), std::move(kernel)};
}

struct Draw {
  std::uint64_t key, threshold; // a number is kept if the upper 32 bits of its random number are at least the threshold
  float factor;
};

DT_CLONES void drop(const float* from, float* to, std::int64_t begin, std::int64_t size, Draw draw)
{
  for (std::int64_t i = 0; i < size; ++i)
    to[i] = (first_word(draw.key ^ static_cast<std::uint64_t>(begin + i)) >> 32) >= draw.threshold ? draw.factor * from[i] : 0;
}

DT_CLONES void drop(const Bf16* from, Bf16* to, std::int64_t begin, std::int64_t size, Draw draw)
{
  float values[width];
  for (std::int64_t i = 0; i < size; i += width) {
    Vector::store(Vector::load(from + i), values);
    drop(values, values, begin + i, width, draw);
    Vector::store(Vector::load(values), to + i);
  }
}

template<class T> void run_dropout(const dnnl::memory& from, const dnnl::memory& to, const Draw& draw)
{
  for_chunks(count_of(to), [&](std::int64_t begin, std::int64_t size) {
    drop(pointer<T>(from) + begin, pointer<T>(to) + begin, begin, size, draw);
  });
}

} // namespace

Operation sum_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& to)
{
  return masked_sum_operation(std::move(label), parts, nullptr, to);
}

Operation relu_gradient_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& result,
                                  const dnnl::memory& to)
{
  return masked_sum_operation(std::move(label), parts, &result, to);
}

Operation relu_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to)
{
  auto kernel = [from, to, half = is_bf16(to)] {
    for_chunks(count_of(to), [&](std::int64_t begin, std::int64_t size) {
      half ? rectify_of(pointer<Bf16>(from) + begin, pointer<Bf16>(to) + begin, size)
           : rectify_of(pointer<float>(from) + begin, pointer<float>(to) + begin, size);
    });
  };
  return {std::move(label), {from, to}, std::move(kernel)};
}

Operation dropout_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to, const DropoutDraws& draws)
{
  const auto threshold = static_cast<std::uint64_t>(draws.rate * 0x1p32);
  const auto factor = static_cast<float>(1 / (1 - draws.rate));
  auto kernel = [from, to, draws, threshold, factor, half = is_bf16(to)] {
    const Draw draw{first_word(draws.key ^ first_word(*draws.pass)), threshold, factor};
    half ? run_dropout<Bf16>(from, to, draw) : run_dropout<float>(from, to, draw);
  };
  return {std::move(label), {from, to}, std::move(kernel)};
}

} // namespace dt::nn
