#include "engine/data/images/jpeg.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <string>

#include <jerror.h>
#include <jpeglib.h>

namespace dt::data {
namespace {

// libjpeg reports errors by a function that must not return; it jumps back to the function that called libjpeg.
struct ErrorManager {
  jpeg_error_mgr base; // first member: libjpeg passes its address
  std::jmp_buf back;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void jump_back(j_common_ptr info)
{
  auto* errors = reinterpret_cast<ErrorManager*>(info->err);
  info->err->format_message(info, errors->message.data());
  std::longjmp(errors->back, 1);
}

// Whether a warning leaves the pixels as they are.
bool is_harmless(int warning)
{
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM || warning == JWRN_JFIF_MAJOR ||
         warning == JWRN_BOGUS_PROGRESSION;
}

void take_message(j_common_ptr info, int level)
{
  if (level < 0 && !is_harmless(info->err->msg_code)) jump_back(info);
}

void print_nothing(j_common_ptr) {}

// The largest part of the resolution, in eighths, that libjpeg need not exceed for the part to keep height x width pixels.
unsigned eighths_for(const Rectangle& part, std::int64_t height, std::int64_t width)
{
  for (const unsigned eighths : {1U, 2U, 4U})
    if (part.height * eighths >= height * 8 && part.width * eighths >= width * 8) return eighths;
  return 8;
}

std::int64_t scaled_down(std::int64_t position, unsigned eighths) { return position * eighths / 8; }
std::int64_t scaled_up(std::int64_t position, unsigned eighths) { return (position * eighths + 7) / 8; }

// Converts a row of cyan, magenta, yellow and black to red, green and blue, or to grey. Adobe's programs store inverted inks.
void convert_inks(const std::uint8_t* inks, bool is_inverted, const Image& image, std::uint8_t* row)
{
  const auto light = [&](std::int64_t x, int ink) { return is_inverted ? inks[4 * x + ink] : 255 - inks[4 * x + ink]; };
  for (std::int64_t x = 0; x < image.width; ++x) {
    const int black = light(x, 3);
    const std::array colour{light(x, 0) * black / 255, light(x, 1) * black / 255, light(x, 2) * black / 255};
    if (image.channels == 1)
      row[x] = static_cast<std::uint8_t>((299 * colour[0] + 587 * colour[1] + 114 * colour[2] + 500) / 1000);
    else
      for (std::size_t c = 0; c < colour.size(); ++c) *row++ = static_cast<std::uint8_t>(colour[c]);
  }
}

} // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info{};
  ErrorManager errors{};
  std::vector<std::uint8_t> inks; // a row of four channels

  State()
  {
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jump_back;
    errors.base.emit_message = take_message;
    errors.base.output_message = print_nothing;
    guarded([&] { jpeg_create_decompress(&info); });
  }
  ~State() { jpeg_destroy_decompress(&info); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // Calls `work`, which calls libjpeg, and throws what libjpeg reports. libjpeg's jump skips the destructors of `work`, so its
  // objects must live outside.
  template<class Work> void guarded(const Work& work)
  {
    if (setjmp(errors.back) != 0) {
      jpeg_abort_decompress(&info);
      if (errors.base.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc(); // says nothing about the image
      throw Error(ErrorKind::recipe, "the JPEG cannot be decoded: " + std::string(errors.message.data()));
    }
    work();
  }

  void begin(std::string_view bytes)
  {
    jpeg_abort_decompress(&info); // an exception between two calls of guarded() may have left an image half decoded
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
  }

  bool has_inks() const { return info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK; }
  std::int64_t own_channels() const { return info.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3; }

  void choose_output(std::int64_t channels, unsigned eighths)
  {
    info.out_color_space = has_inks() ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info.scale_num = eighths;
    info.scale_denom = 8;
    info.dct_method = JDCT_ISLOW;
  }

  void read_row(std::uint8_t* row)
  {
    JSAMPROW where = row;
    jpeg_read_scanlines(&info, &where, 1);
  }

  // Reads the next `image.height` rows.
  void read_rows(Image& image)
  {
    const auto row_bytes = image.width * image.channels;
    for (std::int64_t y = 0; y < image.height; ++y) {
      auto* row = image.pixels.data() + y * row_bytes;
      if (!has_inks()) {
        read_row(row);
        continue;
      }
      read_row(inks.data());
      convert_inks(inks.data(), info.saw_Adobe_marker != 0, image, row);
    }
  }
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {}
JpegDecoder::~JpegDecoder() = default;

void JpegDecoder::read_header(std::string_view bytes, Image& image)
{
  auto& state = *state_;
  state.guarded([&] {
    state.begin(bytes);
    image.height = state.info.image_height;
    image.width = state.info.image_width;
    image.channels = state.own_channels();
    jpeg_abort_decompress(&state.info);
  });
  image.pixels.clear();
}

void JpegDecoder::decode(std::string_view bytes, std::int64_t channels, Image& image)
{
  auto& state = *state_;
  state.guarded([&] {
    state.begin(bytes);
    state.choose_output(channels == 0 ? state.own_channels() : channels, 8);
    jpeg_start_decompress(&state.info);
  });
  image.reshape(state.info.output_height, state.info.output_width, channels == 0 ? state.own_channels() : channels);
  state.inks.resize(state.has_inks() ? static_cast<std::size_t>(4 * image.width) : 0);
  state.guarded([&] {
    state.read_rows(image);
    jpeg_finish_decompress(&state.info);
  });
}

Rectangle JpegDecoder::decode_part(std::string_view bytes, std::int64_t channels, const Rectangle& part, std::int64_t height,
                                   std::int64_t width, Image& image)
{
  auto& state = *state_;
  const auto eighths = eighths_for(part, height, width);
  Rectangle scaled;
  JDIMENSION first_column = 0, columns = 0;
  state.guarded([&] {
    state.begin(bytes);
    state.choose_output(channels == 0 ? state.own_channels() : channels, eighths);
    jpeg_start_decompress(&state.info);
    const std::int64_t bottom = std::min<std::int64_t>(scaled_up(part.top + part.height, eighths), state.info.output_height),
                       right = std::min<std::int64_t>(scaled_up(part.left + part.width, eighths), state.info.output_width);
    scaled.top = scaled_down(part.top, eighths);
    scaled.left = scaled_down(part.left, eighths);
    scaled.height = bottom - scaled.top;
    scaled.width = right - scaled.left;
    first_column = static_cast<JDIMENSION>(scaled.left);
    columns = static_cast<JDIMENSION>(scaled.width);
    if (columns < state.info.output_width) jpeg_crop_scanline(&state.info, &first_column, &columns);
    if (scaled.top > 0) jpeg_skip_scanlines(&state.info, static_cast<JDIMENSION>(scaled.top));
  });
  image.reshape(scaled.height, columns, channels == 0 ? state.own_channels() : channels);
  state.inks.resize(state.has_inks() ? static_cast<std::size_t>(4 * image.width) : 0);
  state.guarded([&] {
    state.read_rows(image);
    jpeg_abort_decompress(&state.info);
  });
  return {0, scaled.left - first_column, scaled.height, scaled.width};
}

} // namespace dt::data
