// dtctl data pack, check, show, list, import and remove, with the real engine.
#include "core/data/packed_file.hpp"
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"
#include "tests/engine/data/bytes.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"
#include "tests/engine/data/write_packed.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/other_file_system.hpp"
#include "tests/support/traced_program.hpp"

#include <algorithm>
#include <csignal>

#include <catch2/catch.hpp>

#include <sys/wait.h>

namespace fs = std::filesystem;
using namespace dt::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

// Folders of JPEG files for two classes.
fs::path write_photos(const Dtctl& dtctl, std::int64_t each, const std::string& name = "photos")
{
  for (std::int64_t i = 0; i < 2 * each; ++i)
    write(dtctl.folder() / name / (i % 2 == 0 ? "cat" : "dog") / (std::to_string(i) + ".jpg"),
          dt::data::jpeg_bytes(dt::data::gradient(20 + i % 7, 30, 3)));
  return dtctl.folder() / name;
}

bool is_running_for(const std::string& word)
{
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto words = read(entry.path() / "cmdline");
    if (words.find("dtengine") != words.npos && words.find(word) != words.npos) return true;
  }
  return false;
}

std::string message_of(const Dtctl& dtctl, const Words& words)
{
  const auto error = dtctl.json(words).at("error");
  CHECK(error.at("kind") == "usage");
  return error.at("message");
}

} // namespace

TEST_CASE("a folder of photos is packed, listed, completed by name, checked, shown, copied and removed")
{
  const Dtctl dtctl;
  write_photos(dtctl, 50);
  const auto packed = dtctl.json({"data", "pack", "photos", "-o", "pets"});
  CHECK(packed.at("train") == 90);
  CHECK(packed.at("test") == 10);
  CHECK(packed.at("classes") == Json{"cat", "dog"});
  CHECK(packed.at("image") == "20 to 30 pixels a side, in colour, JPEG");
  CHECK(packed.at("was_there") == false);
  CHECK(packed.at("file") == (dtctl.home() / "data" / "pets.pack").string());
  CHECK(dtctl.json({"data", "pack", "photos", "-o", "pets"}).at("was_there") == true);
  const auto sets = dtctl.json({"data", "list"}).at("sets");
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].at("name") == "pets");
  CHECK(sets[0].at("id") == packed.at("id"));
  CHECK(dtctl.json({"data", "check", "pets", "--decode"}).at("bad_records") == 0);
  for (const auto* verb : {"check", "show", "remove"})
    CHECK(dtctl.run({"__complete", "--", "data", verb, "pe"}).out == "pets\tpacked\n");
  const auto shown = dtctl.run({"data", "show", "pets", "-n", "2", "-o", "pets.png"});
  CHECK(shown.ok());
  CHECK_THAT(shown.out, Contains("label  class  train  test") && Contains("    0  cat       45     5"));
  CHECK(read(dtctl.folder() / "pets.png").starts_with("\x89PNG"));
  CHECK(dtctl.run({"data", "import", "home/data/pets.pack", "--as", "copy"}).ok());
  CHECK(dtctl.json({"data", "remove", "pets", "--yes"}).at("files").size() == 1);
  CHECK_FALSE(fs::exists(dtctl.home() / "data" / "pets.pack"));
  CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("name") == "copy");
}

TEST_CASE("data pack and data check warn of images of one colour, and data pack passes its rules for colours on")
{
  const Dtctl dtctl;
  write_photos(dtctl, 5);
  dt::data::Image image;
  image.reshape(16, 16, 3);
  std::ranges::fill(image.pixels, std::uint8_t{9});
  write(dtctl.folder() / "photos/cat/plain.jpg", dt::data::jpeg_bytes(image));
  for (const Words& words : {Words{"data", "pack", "photos", "-o", "pets"}, {"data", "check", "pets", "--decode"}})
    CHECK_THAT(dtctl.run(words).err, Contains("warning: 1 of 11 images ") && Contains("cat/plain.jpg"));
  CHECK(dtctl.json({"data", "check", "pets", "--decode"}).at("remarks").size() == 1);
  for (const Words& rule : {Words{"--background", "pink"}, {"--range", "9..5"}, {"--background", "black"}})
    CHECK_THAT(message_of(dtctl, with({"data", "pack", "photos", "-o", "x"}, rule)), StartsWith(rule[0]));
}

TEST_CASE("a set is a name in the home or a path that ends in .pack")
{
  const Dtctl dtctl;
  write_photos(dtctl, 2);
  CHECK(dtctl.run({"data", "pack", "photos", "-o", "./here.pack"}).ok());
  CHECK(dtctl.run({"data", "check", "here.pack"}).ok());
  for (const auto* name : {"a/b", "b.pack"})
    CHECK_THAT(message_of(dtctl, {"data", "pack", "photos", "-o", name}), StartsWith("-o " + std::string(name)));
  CHECK_THAT(message_of(dtctl, {"data", "pack", "photos", "-o", ".."}), Contains("cannot be the name"));
  CHECK_THAT(message_of(dtctl, {"data", "check", "gone"}), Contains("gone.pack"));
}

TEST_CASE("the engine's message about a source is dtctl's own, with exit code 2")
{
  const Dtctl dtctl;
  write(dtctl.folder() / "photos" / "cat" / "1.jpg", "no image");
  write(dtctl.folder() / "photos" / "dog" / "1.jpg", "no image");
  CHECK_THAT(message_of(dtctl, {"data", "pack", "photos", "-o", "pets"}), StartsWith("None of the 2 images"));
  CHECK_THAT(message_of(dtctl, {"data", "pack", "gone", "-o", "pets"}), StartsWith((dtctl.folder() / "gone").string() + ": "));
}

TEST_CASE("a crash of the engine is told with its command and a possible cause")
{
  const Dtctl dtctl;
  write_photos(dtctl, 2);
  const auto engine = dtctl.write("crash", "#!/bin/sh\nkill -SEGV $$\n");
  fs::permissions(engine, fs::perms::owner_all);
  const auto result = dtctl.run({"data", "pack", "photos", "-o", "pets"}, {"DTCTL_ENGINE=" + engine.string()});
  CHECK(result.exit_code == 74);
  CHECK_THAT(result.err, Contains("ended by SIGSEGV") && Contains(engine.string() + " data pack "));
}

TEST_CASE("data check names damaged images and ends with exit code 1")
{
  const Dtctl dtctl;
  write_photos(dtctl, 20);
  REQUIRE(dtctl.run({"data", "pack", "photos", "-o", "pets"}).ok());
  const auto path = dtctl.home() / "data" / "pets.pack";
  damage_record(path, 7);
  const auto json = dtctl.json({"data", "check", "pets"});
  CHECK(json.at("bad")[0].at("record") == 7);
  CHECK(json.at("exit_code") == 1);
  CHECK_THAT(message_of(dtctl, {"data", "show", "pets", "-n", "40"}), Contains("the image is damaged"));
  CHECK_THAT(message_of(dtctl, {"data", "show", "pets", "-n", "1025"}), StartsWith("-n 1025: "));
  CHECK_THAT(message_of(dtctl, {"data", "import", path.string(), "--as", "copy"}), Contains("1 of the 40 images"));
  for (const auto& entry : fs::directory_iterator(dtctl.home() / "data")) CHECK(entry.path().filename() == "pets.pack");
  CHECK(dtctl.run({"data", "list"}).ok()); // reads no records
}

TEST_CASE("an import never replaces a set, and refuses what is no packed set")
{
  const Dtctl dtctl;
  write_numbered_pixels(dtctl.folder() / "a.pack", 10, 2);
  write_numbered_pixels(dtctl.folder() / "b.pack", 20, 2);
  CHECK(dtctl.run({"data", "import", "a.pack"}).ok());
  CHECK((fs::status(dtctl.home() / "data" / "a.pack").permissions() & fs::perms::group_read) != fs::perms::none);
  CHECK_THAT(message_of(dtctl, {"data", "import", "b.pack", "--as", "a"}), Contains("There is a data set a already."));
  {
    const auto copy = dtctl.write("home/data/.b.pack.import", "another process's copy");
    const auto lock = dt::FileLock::acquire(copy);
    CHECK_THAT(message_of(dtctl, {"data", "import", "b.pack"}), Contains("Another process imports"));
    CHECK(read(copy) == "another process's copy");
  }
  CHECK(dtctl.run({"data", "import", "b.pack"}).ok());
  CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("train") == 10);
  dtctl.write("c.pack", "text");
  CHECK(dtctl.run({"data", "import", "c.pack"}).exit_code == 2);
}

TEST_CASE("an import that was killed before any of its calls goes on when it is repeated, and leaves nothing behind")
{
  int calls = 1;
  for (int call = 0; call <= calls; ++call) {
    const Dtctl dtctl;
    write_numbered_pixels(dtctl.folder() / "a.pack", 10, 2);
    const Words words{"data", "import", "a.pack"};
    const auto end = dt::test::TracedProgram(dtctl.command(words)).run(call);
    if (call == 0) calls = end.changes;
    INFO("killed before call " << call << " of " << calls);
    const auto again = dtctl.run(words);
    CHECK(again.ok());
    if (call == 0) CHECK(again.err == "dtctl: a is there already, with the same content\n");
    CHECK(dt::names_in(dtctl.home() / "data") == Words{"a.pack"});
  }
}

TEST_CASE("data remove asks, tells, and refuses what dtctl did not make")
{
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "20", "--test", "10"}).ok());
  fs::create_directories(dtctl.home() / "data" / "mine");
  CHECK_THAT(message_of(dtctl, {"data", "remove", "digits"}), Contains("Add --yes"));
  CHECK(dtctl.run({"data", "remove", "digits", "--dry-run"}).ok());
  CHECK(fs::exists(dtctl.home() / "data" / "digits"));
  CHECK_THAT(message_of(dtctl, {"data", "remove", "mine", "--yes"}), Contains("was not made by dtctl"));
  CHECK_THAT(message_of(dtctl, {"data", "remove", "digit", "--yes"}), Contains("did you mean `digits`?"));
  CHECK_THAT(message_of(dtctl, {"data", "remove", "../runs", "--yes"}), Contains("cannot be the name"));
  write(dtctl.home() / "data" / "digits" / "notes.txt", "x");
  CHECK_THAT(message_of(dtctl, {"data", "remove", "digits", "--yes"}), Contains("notes.txt"));
  fs::remove(dtctl.home() / "data" / "digits" / "notes.txt");
  CHECK(dtctl.run({"data", "remove", "digits", "--yes"}).ok());
  CHECK_FALSE(fs::exists(dtctl.home() / "data" / "digits"));
  dtctl.write("home/data/odd.pack", "text");
  CHECK(dtctl.run({"data", "remove", "odd", "--yes"}).exit_code == 2);
  CHECK(dtctl.json({"data", "list"}).at("sets")[1].at("kind") == "damaged");
}

TEST_CASE("damaged and unfinished sets can be removed, but not while they are packed")
{
  const Dtctl dtctl;
  fs::create_directories(dtctl.home() / "data");
  const auto path = dtctl.home() / "data" / "a.pack", partial = dtctl.home() / "data" / "b.pack.partial";
  write_numbered_pixels(path, 10, 2);
  fs::resize_file(path, 4000);
  CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("kind") == "damaged");
  CHECK(dtctl.json({"data", "remove", "a", "--yes"}).at("bytes") == 4000);
  CHECK_FALSE(fs::exists(path));
  write(partial, "records");
  CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("kind") == "unfinished");
  const auto journal = dtctl.home() / "data" / "b.pack.journal";
  {
    const auto lock = dt::FileLock::acquire(journal);
    CHECK_THAT(message_of(dtctl, {"data", "remove", "b", "--yes"}), Contains("is being packed at this moment"));
  }
  fs::remove(journal);
  CHECK(dtctl.json({"data", "remove", "b", "--dry-run"}).at("files").size() == 1);
  CHECK(fs::exists(partial));
  CHECK(dtctl.run({"data", "remove", "b", "--yes"}).ok());
  CHECK(fs::is_empty(dtctl.home() / "data"));
}

TEST_CASE("sets are packed, imported and removed in a data folder that is a link to another file system")
{
  const Dtctl dtctl;
  const OtherFileSystem other;
  if (!other.differs_from(dtctl.folder())) return; // /dev/shm is missing here, or no file system of its own
  fs::create_directories(dtctl.home());
  fs::create_directory_symlink(other.folder(), dtctl.home() / "data");
  write_numbered_pixels(dtctl.folder() / "a.pack", 10, 2);
  write_photos(dtctl, 10);
  CHECK(dtctl.run({"data", "import", "a.pack"}).ok());
  CHECK(dtctl.run({"data", "pack", "photos", "-o", "pets"}).ok());
  CHECK(dtctl.run({"data", "make", "digits", "--train", "20", "--test", "10"}).ok());
  write(other.folder() / "b.pack.partial", "records");
  write(other.folder() / ".removed" / "left", "by a removal that was killed");
  CHECK(dtctl.json({"data", "list"}).at("sets").size() == 4);
  for (const auto* name : {"a", "pets", "digits", "b"}) {
    const auto removed = dtctl.run({"data", "remove", name, "--yes"});
    INFO(removed.err);
    CHECK(removed.ok());
  }
  CHECK(fs::is_empty(other.folder()));
}

TEST_CASE("when data pack is killed the engine ends too, and the next call goes on from there")
{
  const Dtctl dtctl;
  write_photos(dtctl, 4000);
  const auto child = dtctl.start({"data", "pack", "photos", "-o", "pets", "--threads", "1"});
  const auto journal = dtctl.home() / "data" / "pets.pack.journal";
  REQUIRE(eventually([&] { return fs::exists(journal) && fs::file_size(journal) > 1000; })); // a part is done
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(eventually([&] { return !is_running_for(dtctl.home().string()); }));
  if (!fs::exists(dtctl.home() / "data" / "pets.pack")) {
    CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("kind") == "unfinished");
    const auto result = dtctl.run({"data", "pack", "photos", "-o", "pets"});
    CHECK(result.ok());
    CHECK_THAT(result.err, Contains("images had been packed by an interrupted call"));
  }
  CHECK(dtctl.json({"data", "list"}).at("sets")[0].at("train") == 7200);
}

TEST_CASE("data pack shows its rate and the time left in a terminal, and images are shown in its colours")
{
  const Dtctl dtctl;
  write_photos(dtctl, 600);
  const auto live = dtctl.in_terminal({"data", "pack", "photos", "-o", "pets"}, 80, {"NO_COLOR=1"});
  CHECK_THAT(live, Contains(" of 1200 images"));
  CHECK_THAT(dtctl.in_terminal({"data", "show", "pets", "-n", "2"}, 80, {"TERM=xterm"}), Contains("\x1b[38;2;"));
  CHECK_THAT(dtctl.in_terminal({"data", "show", "pets", "-n", "2"}, 80, {"NO_COLOR=1"}), !Contains("\x1b[38;2;"));
}

TEST_CASE("new writes a recipe for a packed set of the home, which it offers by its name")
{
  const Dtctl dtctl;
  write_photos(dtctl, 50);
  CHECK_THAT(message_of(dtctl, {"new", "p.yaml", "--data", "packed"}), Contains("the home has none yet"));
  REQUIRE(dtctl.run({"data", "pack", "photos", "-o", "pets"}).ok());
  const auto recipe_of = [&](const Words& options) {
    const auto file = "p" + std::to_string(options.size()) + ".yaml";
    const auto made = dtctl.run(dt::test::with({"new", file, "--data", "pets", "--ranks", "1,2"}, options));
    INFO(made.err);
    CHECK(made.ok());
    const auto valid = dtctl.run({"validate", file}); // with the set's files
    INFO(valid.err);
    CHECK(valid.ok());
    return read(dtctl.folder() / file);
  };
  const auto usual = recipe_of({});
  INFO(usual);
  CHECK_THAT(usual, Contains("data:\n  name: packed\n  set: pets\n") && Contains("\n  image_size: 32\n"));
  CHECK_THAT(usual, Contains("\n  global_batch: 12\n")); // 8 steps in an epoch of 90 images
  CHECK_THAT(recipe_of({"--model", "lenet"}), Contains("\n  image_size: 28\n"));
  CHECK_THAT(recipe_of({"--model", "custom", "--study", "weak"}), Contains("\n  image_size: 20\n"));
  CHECK_THAT(message_of(dtctl, {"new", "p.yaml", "--data", "pats"}), Contains("did you mean `pets`?"));
  CHECK_THAT(message_of(dtctl, {"new", "p.yaml", "--data", "packed"}), Contains("give the name of one: pets"));
}
