// Files that tar itself has written under the C locale.
#include "core/machine/process.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// Calls tar in `folder` with the C locale. The tar file is t.tar in this folder.
void call_tar(const fs::path& folder, std::vector<std::string> options, const std::vector<std::string>& members)
{
  std::vector<std::string> words{"env",           "LC_ALL=C",    "tar", "-C",
                                 folder.string(), "--sort=name", "-cf", (folder / "t.tar").string()};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), members.begin(), members.end());
  const auto result = run_command(words);
  INFO(result.err);
  REQUIRE(result.ok());
}

} // namespace

TEST_CASE("names that are not ASCII are those of the files in each of tar's formats")
{
  const TemporaryFolder folder;
  const std::string long_name = "\u00c4pfel/" + std::string(130, 'x') + "\u00f6";
  for (const std::string format : {"gnu", "pax", "ustar"}) {
    const TemporaryFolder source;
    const auto second = format == "ustar" ? std::string("\u00c4pfel/\u65e5\u672c") : long_name;
    for (const auto& name : {std::string("\u00c4pfel/\u00fc"), second}) {
      write(source.path() / (name + ".png"), png(1));
      write(source.path() / (name + ".cls"), "\u00c4pfel\n");
    }
    call_tar(source.path(), {"--format=" + format}, {"\u00c4pfel"});
    auto options = plain_options(source.path() / "t.tar", folder.path() / (format + ".pack"));
    data::pack_data(options);
    const PackedFile file(options.output);
    CHECK(file.description().classes == std::vector<std::string>{"\u00c4pfel"});
    auto names = file.names();
    std::ranges::sort(names);
    std::vector<std::string> expected{"t.tar/\u00c4pfel/\u00fc.png", "t.tar/" + second + ".png"};
    std::ranges::sort(expected);
    CHECK(names == expected);
  }
}

TEST_CASE(
    "an image or a label that tar has stored with holes is refused with its name, and other members with holes are left out")
{
  constexpr std::uintmax_t hole = 1 << 20;
  for (const auto& format : {std::vector<std::string>{"--format=gnu"},
                             {"--format=pax", "--sparse-version=0.0"},
                             {"--format=pax", "--sparse-version=0.1"},
                             {"--format=pax", "--sparse-version=1.0"}})
    for (const std::string sparse : {"1.png", "1.cls", "notes.txt"}) {
      const TemporaryFolder folder;
      write(folder.path() / "1.png", png(1));
      write(folder.path() / "1.cls", "cat");
      write(folder.path() / "notes.txt", "");
      fs::resize_file(folder.path() / sparse, hole);
      auto words = format;
      words.insert(words.end(), {"--sparse", "--hole-detection=raw"});
      call_tar(folder.path(), words, {"1.cls", "1.png", "notes.txt"});
      REQUIRE(fs::file_size(folder.path() / "t.tar") < hole / 2);
      const auto options = plain_options(folder.path() / "t.tar", folder.path() / "s.pack");
      INFO(words[0] << " " << words[1] << " " << sparse);
      if (sparse == "notes.txt")
        CHECK(data::pack_data(options).description.train_samples == 1);
      else
        CHECK_THROWS_WITH(data::pack_data(options),
                          (folder.path() / "t.tar").string() + ": the member " + sparse + " is stored with holes, so it is no " +
                              (sparse == "1.png" ? "image" : "label") +
                              ". Make the tar file again without --sparse (-S), or without this member.");
    }
}

TEST_CASE("a link in a tar file is left out with a warning that names it")
{
  const TemporaryFolder folder;
  write(folder.path() / "1.png", png(1));
  for (const auto* label : {"1.cls", "2.cls", "3.cls"}) write(folder.path() / label, "cat");
  fs::create_hard_link(folder.path() / "1.png", folder.path() / "2.png");
  fs::create_symlink("1.png", folder.path() / "3.png");
  call_tar(folder.path(), {}, {"1.png", "1.cls", "2.png", "2.cls", "3.png", "3.cls"});
  const auto result = data::pack_data(plain_options(folder.path() / "t.tar", folder.path() / "s.pack"));
  CHECK(result.description.train_samples == 1);
  CHECK(result.remarks ==
        std::vector<std::string>{
            "2 labels without an image were left out; the first is t.tar/2.cls.",
            "2 links were left out because a tar file stores no content for a link; the first is t.tar/2.png."});
}
