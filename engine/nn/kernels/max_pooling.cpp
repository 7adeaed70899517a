#include "engine/nn/kernels/max_pooling.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

// L channels of one pixel. A window's places are numbers from 0 to 255, and a byte each in memory.
template<int L> struct PlacesOf;
template<> struct PlacesOf<4> {
  typedef std::int32_t Places __attribute__((vector_size(16)));
  typedef std::uint8_t Bytes __attribute__((vector_size(4)));
};
template<> struct PlacesOf<8> {
  typedef std::int32_t Places __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(32)));
  typedef std::uint64_t Words __attribute__((vector_size(32)));
};

template<int L> using Floats = typename SimdVector<L>::Floats;
template<int L> using Places = typename PlacesOf<L>::Places;

// GCC converts eight bytes into eight words one by one, so that these are shuffled: load_marks() repeats each channel's byte in
// all four bytes of its word, and mark() is the word of one place.
template<int L> [[gnu::always_inline]] inline Places<L> mark(std::int64_t place)
{
  return Places<L>{} + static_cast<std::int32_t>(L == 8 ? place * 0x01010101 : place);
}

[[gnu::always_inline]] inline void load_marks(const std::uint8_t* from, Places<4>& to)
{
  PlacesOf<4>::Bytes bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  to = __builtin_convertvector(bytes, Places<4>);
}

[[gnu::always_inline]] inline void load_marks(const std::uint8_t* from, Places<8>& to)
{
  using Bytes = PlacesOf<8>::Bytes;
  std::uint64_t eight;
  __builtin_memcpy(&eight, from, sizeof eight);
  const auto repeated = PlacesOf<8>::Words{} + eight;
  Bytes bytes;
  __builtin_memcpy(&bytes, &repeated, sizeof bytes);
  bytes = __builtin_shuffle(bytes, Bytes{0,  0,  0,  0,  1,  1,  1,  1,  2,  2,  2,  2,  3,  3,  3,  3,
                                         20, 20, 20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 23, 23, 23, 23});
  __builtin_memcpy(&to, &bytes, sizeof to);
}

[[gnu::always_inline]] inline void store_places(Places<4> places, std::uint8_t* to)
{
  const auto bytes = __builtin_convertvector(places, PlacesOf<4>::Bytes);
  __builtin_memcpy(to, &bytes, sizeof bytes);
}

[[gnu::always_inline]] inline void store_places(Places<8> places, std::uint8_t* to)
{
  using Bytes = PlacesOf<8>::Bytes;
  Bytes bytes;
  __builtin_memcpy(&bytes, &places, sizeof bytes);
  bytes = __builtin_shuffle(bytes, Bytes{0,  4,  8,  12, 0,  4,  8,  12, 0,  4,  8,  12, 0,  4,  8,  12,
                                         16, 20, 24, 28, 16, 20, 24, 28, 16, 20, 24, 28, 16, 20, 24, 28});
  __builtin_memcpy(&places, &bytes, sizeof places);
  places = __builtin_shuffle(places, Places<8>{0, 4, 0, 4, 0, 4, 0, 4});
  __builtin_memcpy(to, &places, 8);
}

// ---- forward ----

// The part [begin, end) of a window that lies inside the image, along one side; `first` is the window's first pixel.
struct Clipped {
  std::int64_t begin, end;
};
[[gnu::always_inline]] inline Clipped clipped(std::int64_t first, std::int64_t kernel, std::int64_t side)
{
  return {first < 0 ? -first : 0, first + kernel > side ? side - first : kernel};
}

template<int L> struct Largest {
  Floats<L> value;
  Places<L> place;
  [[gnu::always_inline]] void take(Floats<L> other, std::int64_t at)
  {
    const auto larger = other > value;
    value = larger ? other : value;
    place = larger ? Places<L>{} + static_cast<std::int32_t>(at) : place;
  }
};

// A window of Kernel x Kernel pixels, all inside the image. `at`: its first pixel.
template<int L, int Kernel, class T>
[[gnu::always_inline]] inline Largest<L> largest_of(const T* at, std::int64_t pixel, std::int64_t row)
{
  Largest<L> largest{SimdVector<L>::load(at), Places<L>{}};
  for (int place = 1; place < Kernel * Kernel; ++place)
    largest.take(SimdVector<L>::load(at + place / Kernel * row + place % Kernel * pixel), place);
  return largest;
}

// Any window. `at`: its first pixel, which may lie outside the image.
template<int L, class T>
[[gnu::always_inline]] inline Largest<L> largest_inside(const T* at, std::int64_t pixel, std::int64_t row, Clipped rows,
                                                        Clipped columns, std::int64_t kernel_width)
{
  const auto begin = rows.begin * kernel_width + columns.begin;
  Largest<L> largest{SimdVector<L>::load(at + rows.begin * row + columns.begin * pixel),
                     Places<L>{} + static_cast<std::int32_t>(begin)};
  for (auto y = rows.begin; y < rows.end; ++y)
    for (auto x = columns.begin; x < columns.end; ++x)
      largest.take(SimdVector<L>::load(at + y * row + x * pixel), y * kernel_width + x);
  return largest;
}

// Some windows of a row, for L channels.
template<int L, class T>
[[gnu::always_inline]] inline void pool_clipped(PlaneWindows w, Clipped windows, std::int64_t window_row, const T* image,
                                                T* results, std::uint8_t* winners)
{
  const auto pixel = w.pixel_stride, row = w.width * pixel, top = window_row * w.stride - w.padding;
  const auto rows = clipped(top, w.kernel_height, w.height);
  for (auto x = windows.begin; x < windows.end; ++x) {
    const auto left = x * w.stride - w.padding;
    const auto largest = largest_inside<L>(image + top * row + left * pixel, pixel, row, rows,
                                           clipped(left, w.kernel_width, w.width), w.kernel_width);
    SimdVector<L>::store(largest.value, results + x * pixel);
    if (winners != nullptr) store_places(largest.place, winners + x * w.block);
  }
}

// The same for windows of Kernel x Kernel pixels, all inside the image.
template<int L, int Kernel, class T>
[[gnu::always_inline]] inline void pool_whole(PlaneWindows w, Clipped windows, std::int64_t window_row, const T* image,
                                              T* results, std::uint8_t* winners)
{
  const auto pixel = w.pixel_stride, row = w.width * pixel;
  const T* at = image + (window_row * w.stride - w.padding) * row + (windows.begin * w.stride - w.padding) * pixel;
  for (auto x = windows.begin; x < windows.end; ++x, at += w.stride * pixel) {
    const auto largest = largest_of<L, Kernel>(at, pixel, row);
    SimdVector<L>::store(largest.value, results + x * pixel);
    if (winners != nullptr) store_places(largest.place, winners + x * w.block);
  }
}

// One row of windows for L channels. Kernel: the side of all windows, or 0.
template<int L, int Kernel, class T>
[[gnu::always_inline]] inline void pool_row(PlaneWindows w, std::int64_t window_row, const T* image, T* results,
                                            std::uint8_t* winners)
{
  Clipped whole{0, 0};
  const auto top = window_row * w.stride - w.padding;
  if (Kernel > 0 && top >= 0 && top + Kernel <= w.height && w.width + w.padding >= Kernel) {
    whole.begin = std::min((w.padding + w.stride - 1) / w.stride, w.out_width);
    whole.end = std::max(whole.begin, std::min((w.width + w.padding - Kernel) / w.stride + 1, w.out_width));
  }
  pool_clipped<L>(w, {0, whole.begin}, window_row, image, results, winners);
  if constexpr (Kernel > 0) pool_whole<L, Kernel>(w, whole, window_row, image, results, winners);
  pool_clipped<L>(w, {whole.end, w.out_width}, window_row, image, results, winners);
}

// A row of windows for all channels before the next one: all read the same lines of the cache.
template<int L, int Kernel, class T>
[[gnu::always_inline]] inline void pool_rows(PlaneWindows w, const T* image, T* results, std::uint8_t* winners)
{
  for (std::int64_t y = 0; y < w.out_height; ++y)
    for (std::int64_t channel = 0; channel < w.block; channel += L)
      pool_row<L, Kernel>(w, y, image + channel, results + y * w.out_width * w.pixel_stride + channel,
                          winners == nullptr ? nullptr : winners + y * w.out_width * w.block + channel);
}

bool are_squares(PlaneWindows w, std::int64_t kernel) { return w.kernel_height == kernel && w.kernel_width == kernel; }

template<int L, class T>
[[gnu::always_inline]] inline void pool_plane(PlaneWindows w, const T* image, T* results, std::uint8_t* winners)
{
  if (are_squares(w, 3)) return pool_rows<L, 3>(w, image, results, winners);
  if (are_squares(w, 2)) return pool_rows<L, 2>(w, image, results, winners);
  pool_rows<L, 0>(w, image, results, winners);
}

// ---- backward ----

// Windows [begin, end) of one side that hold the pixel `at`.
[[gnu::always_inline]] inline Clipped windows_with(std::int64_t at, std::int64_t kernel, std::int64_t windows,
                                                   std::int64_t stride, std::int64_t padding)
{
  const auto before = at + padding - kernel; // the last pixel of a window that ends just before `at`, less its first one
  return {before < 0 ? 0 : before / stride + 1, std::min(windows, (at + padding) / stride + 1)};
}

// The gradient of one pixel: the sum over the windows that hold it.
template<int L, class T>
[[gnu::always_inline]] inline Floats<L> gradient_at(PlaneWindows w, std::int64_t y, std::int64_t x, Clipped rows,
                                                    const T* gradients, const std::uint8_t* winners)
{
  const auto columns = windows_with(x, w.kernel_width, w.out_width, w.stride, w.padding);
  Floats<L> sum{};
  for (auto wy = rows.begin; wy < rows.end; ++wy)
    for (auto wx = columns.begin; wx < columns.end; ++wx) {
      const auto place = (y + w.padding - wy * w.stride) * w.kernel_width + x + w.padding - wx * w.stride;
      const auto window = wy * w.out_width + wx;
      const auto gradient = SimdVector<L>::load(gradients + window * w.pixel_stride);
      Places<L> winner;
      load_marks(winners + window * w.block, winner);
      sum += winner == mark<L>(place) ? gradient : Floats<L>{};
    }
  return sum;
}

// Pixels [begin, end) of row y.
template<int L, class T>
[[gnu::always_inline]] inline void gradient_pixels(PlaneWindows w, std::int64_t y, std::int64_t begin, std::int64_t end,
                                                   const T* gradients, const std::uint8_t* winners, T* image_gradient)
{
  const auto rows = windows_with(y, w.kernel_height, w.out_height, w.stride, w.padding);
  for (auto x = begin; x < end; ++x)
    SimdVector<L>::store(gradient_at<L>(w, y, x, rows, gradients, winners), image_gradient + (y * w.width + x) * w.pixel_stride);
}

// `Rows` adjacent rows of windows, from row `first` on, that hold row y of the image. Computes the pixels of row y that only
// windows inside the image hold, Stride at a time: pixel `x * Stride + r - padding` is at place r + j * Stride of the columns of
// window x - j. Returns them as a range.
template<int L, int Kernel, int Stride, int Rows, class T>
[[gnu::always_inline]] inline Clipped inner_gradients(PlaneWindows w, std::int64_t y, std::int64_t first, const T* gradients,
                                                      const std::uint8_t* winners, T* image_gradient)
{
  constexpr int across = (Kernel + Stride - 1) / Stride; // windows that may hold a pixel, along one side
  // The first and the end x with all of its windows and its pixels inside.
  const auto begin = std::max<std::int64_t>(across - 1, (w.padding + Stride - 1) / Stride);
  const auto end = std::min(w.out_width, (w.width + w.padding) / Stride);
  if (begin >= end) return {0, 0};
  const auto pixel = w.pixel_stride, first_pixel = begin * Stride - w.padding;
  Places<L> places[Rows][Kernel];
  for (int i = 0; i < Rows; ++i)
    for (int k = 0; k < Kernel; ++k) places[i][k] = mark<L>((y + w.padding - (first + i) * Stride) * Kernel + k);
  const T* d = gradients + (first * w.out_width + begin) * pixel;
  const std::uint8_t* p = winners + (first * w.out_width + begin) * w.block;
  T* to = image_gradient + (y * w.width + first_pixel) * pixel;
  for (auto x = begin; x < end; ++x, d += pixel, p += w.block)
    for (int r = 0; r < Stride; ++r, to += pixel) {
      Floats<L> sum{};
      for (int i = 0; i < Rows; ++i)
        for (int j = across - 1; j >= 0; --j) {
          if (r + j * Stride >= Kernel) continue;
          const auto gradient = SimdVector<L>::load(d + (i * w.out_width - j) * pixel);
          Places<L> winner;
          load_marks(p + (i * w.out_width - j) * w.block, winner);
          sum += winner == places[i][r + j * Stride] ? gradient : Floats<L>{};
        }
      SimdVector<L>::store(sum, to);
    }
  return {first_pixel, end * Stride - w.padding};
}

template<int L, int Kernel, int Stride, class T>
[[gnu::always_inline]] inline void gradient_row(PlaneWindows w, std::int64_t y, const T* gradients, const std::uint8_t* winners,
                                                T* image_gradient)
{
  Clipped done{0, 0};
  if constexpr (Kernel > 0) {
    constexpr int across = (Kernel + Stride - 1) / Stride;
    const auto rows = windows_with(y, Kernel, w.out_height, Stride, w.padding);
    const auto count = rows.end - rows.begin;
    if (count == 1) done = inner_gradients<L, Kernel, Stride, 1>(w, y, rows.begin, gradients, winners, image_gradient);
    if constexpr (across > 1)
      if (count == 2) done = inner_gradients<L, Kernel, Stride, 2>(w, y, rows.begin, gradients, winners, image_gradient);
    if constexpr (across > 2)
      if (count == 3) done = inner_gradients<L, Kernel, Stride, 3>(w, y, rows.begin, gradients, winners, image_gradient);
  }
  gradient_pixels<L>(w, y, 0, done.begin, gradients, winners, image_gradient);
  gradient_pixels<L>(w, y, done.end, w.width, gradients, winners, image_gradient);
}

template<int L, int Kernel, int Stride, class T>
[[gnu::always_inline]] inline void gradient_rows(PlaneWindows w, const T* gradients, const std::uint8_t* winners,
                                                 T* image_gradient)
{
  for (std::int64_t y = 0; y < w.height; ++y)
    for (std::int64_t channel = 0; channel < w.block; channel += L)
      gradient_row<L, Kernel, Stride>(w, y, gradients + channel, winners + channel, image_gradient + channel);
}

template<int L, class T>
[[gnu::always_inline]] inline void gradient_plane(PlaneWindows w, const T* gradients, const std::uint8_t* winners,
                                                  T* image_gradient)
{
  if (are_squares(w, 3) && w.stride == 2) return gradient_rows<L, 3, 2>(w, gradients, winners, image_gradient);
  if (are_squares(w, 3) && w.stride == 1) return gradient_rows<L, 3, 1>(w, gradients, winners, image_gradient);
  if (are_squares(w, 2) && w.stride == 2) return gradient_rows<L, 2, 2>(w, gradients, winners, image_gradient);
  gradient_rows<L, 0, 1>(w, gradients, winners, image_gradient);
}

// ---- instruction sets ----

template<InstructionSet Set> struct Compiled;

// LANES: channels in a vector; eight with AVX-512 too, because GCC 12 repeats sixteen bytes in a vector through memory.
#define DT_COMPILE_FOR(SET, TARGET, LANES)                                                                                       \
  template<> struct Compiled<SET> {                                                                                              \
    template<class T> TARGET static void pool(const PlaneWindows& a, const T* b, T* c, std::uint8_t* d)                          \
    {                                                                                                                            \
      pool_plane<LANES>(a, b, c, d);                                                                                             \
    }                                                                                                                            \
    template<class T> TARGET static void gradient(const PlaneWindows& a, const T* b, const std::uint8_t* c, T* d)                \
    {                                                                                                                            \
      gradient_plane<LANES>(a, b, c, d);                                                                                         \
    }                                                                                                                            \
  }

DT_COMPILE_FOR(InstructionSet::avx512, DT_AVX512, 8);
DT_COMPILE_FOR(InstructionSet::avx2, DT_AVX2, 8);
DT_COMPILE_FOR(InstructionSet::plain, , 4);

#undef DT_COMPILE_FOR

template<class T, InstructionSet Set>
constexpr MaxPoolingKernels<T> kernels_of{&Compiled<Set>::template pool<T>, &Compiled<Set>::template gradient<T>};

} // namespace

template<class T> const MaxPoolingKernels<T>& max_pooling_kernels(InstructionSet set)
{
  switch (set) {
  case InstructionSet::avx512:
    return kernels_of<T, InstructionSet::avx512>;
  case InstructionSet::avx2:
    return kernels_of<T, InstructionSet::avx2>;
  case InstructionSet::plain:
    break;
  }
  return kernels_of<T, InstructionSet::plain>;
}

template const MaxPoolingKernels<float>& max_pooling_kernels<float>(InstructionSet set);
template const MaxPoolingKernels<Bf16>& max_pooling_kernels<Bf16>(InstructionSet set);

} // namespace dt::nn
