#include "engine/data/viewing/font.hpp"
#include "engine/data/viewing/samples.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::data;

namespace {

struct Numbered {
  dt::test::TemporaryFolder folder;
  PackedFile file = write(folder.path() / "s.pack");
  static PackedFile write(const std::filesystem::path& path)
  {
    dt::test::write_numbered_pixels(path, 100, 20);
    return PackedFile(path);
  }
};

Sample sample_of(std::int64_t height, std::int64_t width, std::int64_t channels, std::uint8_t value,
                 const std::string& name = "cat")
{
  Sample sample{0, {}, name, "x"};
  sample.image.reshape(height, width, channels);
  std::ranges::fill(sample.image.pixels, value);
  return sample;
}

} // namespace

TEST_CASE("samples are drawn by seed from the split and the class that are asked for, and no record twice")
{
  const Numbered set;
  const auto all = choose_samples(set.file, {.count = 200, .split = {}, .class_name = {}});
  CHECK(all.size() == 120);
  CHECK(std::ranges::adjacent_find(all) == all.end());
  const auto test = choose_samples(set.file, {.count = 5, .split = "test", .class_name = {}, .seed = 3});
  CHECK(test.size() == 5);
  for (const auto record : test) CHECK(record >= 100);
  CHECK(test == choose_samples(set.file, {.count = 5, .split = "test", .class_name = {}, .seed = 3}));
  CHECK(test != choose_samples(set.file, {.count = 5, .split = "test", .class_name = {}, .seed = 4}));
  for (const auto* name : {"class 7", "7"})
    for (const auto record : choose_samples(set.file, {.count = 9, .split = "train", .class_name = name}))
      CHECK((record < 100 && set.file.entry(record).label == 7));
}

TEST_CASE("an unknown class is refused with a similar one")
{
  const Numbered set;
  CHECK_THROWS_WITH(choose_samples(set.file, {.split = {}, .class_name = "clas 7"}),
                    Catch::StartsWith(set.file.path().string() + " has no class clas 7; did you mean class 7?") &&
                        Catch::EndsWith("It has 10 classes: give a name or a number from 0 to 9."));
}

TEST_CASE("a contact sheet holds every sample at its whole-number scale, centred, with its name below")
{
  const std::vector<Sample> samples{sample_of(28, 28, 1, 10), sample_of(300, 100, 1, 20)};
  const auto sheet = contact_sheet(samples);
  CHECK(sheet.channels == 1);
  CHECK(sheet.width == 16 + 2 * 160);
  CHECK(std::ranges::count(sheet.pixels, 10) == 140 * 140); // five times as large
  CHECK(std::ranges::count(sheet.pixels, 20) == 144 * 48);
  CHECK(std::ranges::count(sheet.pixels, 60) > 2 * 3 * 20); // the ink of six letters
}

TEST_CASE("letters lie inside of the image, and a letter of several bytes is one question mark")
{
  Image image;
  image.reshape(8, 20, 1);
  draw_text(image, 0, 14, "WWW", 1, 255);
  draw_text(image, 4, 0, "W", 3, 255);
  CHECK(drawn_characters("Käse") == 4);
  Image one = image, other = image;
  draw_text(one, 0, 0, "ä", 1, 9);
  draw_text(other, 0, 0, "?", 1, 9);
  CHECK(one.pixels == other.pixels);
}

TEST_CASE("the terminal shows bright pixels as dense characters or in colour, as many pictures in a row as fit")
{
  const std::vector<Sample> samples{sample_of(4, 4, 1, 255), sample_of(4, 4, 1, 0, "a long name that does not fit"),
                                    sample_of(2, 4, 1, 128)};
  const auto grey = text_picture(samples, {.columns = 60, .colour = false});
  CHECK(grey.starts_with(std::string(24, '@') + "  " + std::string(24, ' ')));
  CHECK(grey.find("cat" + std::string(23, ' ') + "a long name that does no\n") == grey.npos);
  CHECK(grey.find("a long name that does no  \n") != grey.npos);
  CHECK(grey.find("====") != grey.npos);
  const auto coloured = text_picture(samples, {.columns = 60, .colour = true});
  CHECK(coloured.starts_with("\x1b[38;2;255;255;255;48;2;255;255;255m▀"));
}
