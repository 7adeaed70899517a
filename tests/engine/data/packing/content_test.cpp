// Images that lose their content on the way into a set, or have none.
#include "engine/data/packing/check.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <memory>

#include <catch2/catch.hpp>
#include <spng.h>

using namespace dt;
using namespace dt::test;

namespace {

using Remarks = std::vector<std::string>;

// 2 x 2 pixels with these values, which may be samples of several channels.
template<class Value> std::string small_png(spng_color_type type, const std::vector<Value>& values)
{
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{2, 2, 8 * sizeof(Value), static_cast<std::uint8_t>(type), 0, 0, 0};
  REQUIRE(spng_set_ihdr(context.get(), &header) == 0);
  REQUIRE(spng_encode_image(context.get(), values.data(), values.size() * sizeof(Value), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) ==
          0);
  std::size_t size = 0;
  int code = 0;
  const std::unique_ptr<void, decltype(&std::free)> file(spng_get_png_buffer(context.get(), &size, &code), &std::free);
  return {static_cast<const char*>(file.get()), size};
}

std::string deep_png(const std::vector<std::uint16_t>& values) { return small_png(SPNG_COLOR_TYPE_GRAYSCALE, values); }

// A folder with these images of one class, and the options that pack it.
struct Source {
  TemporaryFolder folder;
  data::PackOptions options = plain_options(folder.path() / "s", folder.path() / "s.pack");
  explicit Source(const std::vector<std::string>& images)
  {
    for (std::size_t i = 0; i < images.size(); ++i) write(folder.path() / "s" / "a" / (std::to_string(i) + ".png"), images[i]);
  }
  Remarks pack() const { return data::pack_data(options).remarks; }
  Remarks check() const { return data::check_packed({.path = options.output, .decode = true, .threads = 1}).remarks; }
};

} // namespace

TEST_CASE("packing warns when the values of 16-bit images reach few of the 256 levels, and --range spreads them")
{
  Source source({deep_png({0, 100, 128, 255}), deep_png({3, 99, 128, 200})});
  const auto remarks = source.pack();
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[0] ==
        "All 2 images have 16 bits, with values from 0 to 255. Because 0 to 65535 become black to white, they are 2 of "
        "256 levels; --range 0..255 uses all of them.");
  CHECK(remarks[1].starts_with("Over all training images, this channel is nearly constant: grey (mean 0.00"));
  CHECK(source.check() == Remarks{remarks[1]});
  source.options.range = {0, 255};
  source.options.force = true;
  CHECK(source.pack().empty());
  CHECK(record(PackedFile(source.options.output), 0) == std::string("\x00\x64\x80\xff", 4));
  CHECK(PackedFile(source.options.output).description().options.find("--range 0..255") != std::string::npos);
  source.options.range = {100, 200};
  CHECK(source.pack() == Remarks{"All 2 images have 16 bits, with values from 0 to 255. Those outside of --range 100..200 became "
                                 "black or white."});
}

TEST_CASE("packing warns of transparent images, which show the background")
{
  const std::vector<std::uint8_t> icon{0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255}; // black on nothing
  Source source({small_png(SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, icon), png(1, 2, 2)});
  CHECK(source.pack() == Remarks{"1 of 2 images has transparent pixels, which show the background #ffffff; --background chooses "
                                 "another."});
  CHECK(record(PackedFile(source.options.output), 0) == std::string("\0\0\0\xff\xff\xff\xff\xff\xff\0\0\0", 12));
  source.options.background = {0, 0, 0};
  source.options.force = true;
  const auto black = source.pack();
  REQUIRE(black.size() == 2);
  CHECK(black[1] == "1 of 2 images has the same colour in every pixel, so there is nothing to see in it: a/0.png.");
  CHECK(source.check() == Remarks{black[1]});
}

TEST_CASE("packing and checking warn of images of one colour and of channels that are constant")
{
  const std::vector<std::uint8_t> one(12, 9), red{1, 9, 9, 80, 9, 9, 200, 9, 9, 30, 9, 9};
  Source source({small_png(SPNG_COLOR_TYPE_TRUECOLOR, one), small_png(SPNG_COLOR_TYPE_TRUECOLOR, red)});
  const Remarks expected{
      "1 of 2 images has the same colour in every pixel, so there is nothing to see in it: a/0.png.",
      "Over all training images, these channels are nearly constant: green (mean 0.0353, deviation 0.0000), blue "
      "(mean 0.0353, deviation 0.0000). A deviation below 1/255 is less than one of 256 levels, so there is next "
      "to nothing to learn from."};
  CHECK(source.pack() == expected);
  CHECK(source.check() == expected);
}

TEST_CASE("an interrupted call hands the facts about its images on to the next one")
{
  Source source({});
  write_class_folders(source.options.source.path, {"a"}, 1200);
  const std::vector<std::uint8_t> one(90, 9);
  Image image{6, 5, 3, one};
  write(source.options.source.path / "a" / "0.png", data::encode_png(image));
  pack_partly(source.options, 1);
  const auto result = data::pack_data(source.options);
  CHECK(result.resumed > 0);
  CHECK(result.remarks ==
        Remarks{"1 of 1200 images has the same colour in every pixel, so there is nothing to see in it: a/0.png."});
}

TEST_CASE("options --background and --range are refused for a source without PNG and WebP images")
{
  Source source({});
  write(source.options.source.path / "a" / "1.jpg", jpeg_bytes(data::gradient(8, 8, 3)));
  source.options.background = {0, 0, 0};
  CHECK_THROWS_WITH(source.pack(),
                    "--background is for PNG or WebP images, but the source (folder s) has none. Leave out --background.");
}
