#include "core/program/program_files.hpp"

#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::message_of;
using dt::test::TemporaryFolder;

namespace {

struct Fixture {
  TemporaryFolder folder;
  RunSpec run;
  ProgramSpec& program = run.program;
  Fixture()
  {
    program.command = {"python3", "train.py"};
    write("train.py", "print(1)");
    write("net/layers.py", "x = 1");
    write("net/.git/config", "hidden");
    write("net/__pycache__/layers.pyc", "made by Python");
    program.files = {program_entry(folder.path(), "train.py"), program_entry(folder.path(), "net/")};
  }
  void write(const std::string& name, const std::string& text) const
  {
    make_folders((folder.path() / name).parent_path());
    write_file_atomic(folder.path() / name, text);
  }
  void link(const std::string& name, const std::string& target) const
  {
    std::filesystem::create_symlink(target, folder.path() / name);
  }
  std::filesystem::path copy_of(const std::string& id) const { return folder.path() / "programs" / id; }
  // Of the links, which are refused.
  std::string message() const
  {
    return message_of([&] { program_files(program); });
  }
  std::vector<std::string> names() const
  {
    std::vector<std::string> found;
    for (const auto& file : program_files(program)) found.push_back(file.name);
    return found;
  }
};

} // namespace

TEST_CASE("a program's files are those that the recipe names and in its folders, without hidden and compiled ones, the same in "
          "any folder")
{
  const Fixture one, other;
  CHECK(one.names() == std::vector<std::string>{"net/layers.py", "train.py"});
  CHECK(program_id(one.run) == program_id(other.run));
}

TEST_CASE("the id of a program follows the content, the names and the permissions of its files, and nothing else")
{
  Fixture fixture;
  const auto before = program_id(fixture.run);
  fixture.write("other.py", "x = 2");
  CHECK(program_id(fixture.run) == before);
  std::filesystem::permissions(fixture.folder.path() / "train.py", std::filesystem::perms::owner_all);
  const auto executable = program_id(fixture.run);
  CHECK(executable != before);
  fixture.write("net/layers.py", "x = 2");
  CHECK(program_id(fixture.run) != before);
}

TEST_CASE("a copy has the id of its program, and a changed copy has not")
{
  Fixture fixture;
  const auto id = program_id(fixture.run);
  const auto copy = fixture.copy_of(id);
  keep_program(fixture.program, id, copy);
  CHECK(has_same_files(copy, id));
  fixture.write("train.py", "print(2)"); // the source, not the copy
  CHECK(has_same_files(copy, id));
  copy_program(copy, fixture.folder.path() / "work");
  CHECK(read_file(fixture.folder.path() / "work" / "net" / "layers.py") == "x = 1");
  write_file_atomic(copy / "train.py", "print(3)");
  CHECK_FALSE(has_same_files(copy, id));
}

TEST_CASE("a folder that is empty or has hidden files only is there in the copy, and counts in the id")
{
  Fixture fixture;
  const auto before = program_id(fixture.run);
  fixture.write("net/results/images/.gitignore", "*");
  const auto id = program_id(fixture.run);
  CHECK(id != before);
  CHECK(program_files(fixture.program).size() == 2); // folders are no files
  const auto copy = fixture.copy_of(id);
  keep_program(fixture.program, id, copy);
  CHECK(has_same_files(copy, id));
  copy_program(copy, fixture.folder.path() / "work");
  const auto made = fixture.folder.path() / "work" / "net" / "results" / "images";
  CHECK(std::filesystem::is_directory(made));
  CHECK(std::filesystem::is_empty(made));
}

TEST_CASE("files that change between the hash and the copy are not copied")
{
  Fixture fixture;
  const auto id = program_id(fixture.run);
  fixture.write("train.py", "print(2)");
  const auto copy = fixture.copy_of(id);
  CHECK_THAT(message_of([&] { keep_program(fixture.program, id, copy); }), Catch::Contains("was changed during the submission"));
  CHECK_FALSE(is_there(copy));
}

TEST_CASE("an entry that is missing, outside or no file is refused with its path")
{
  Fixture fixture;
  const auto root = fixture.folder.path().string();
  const auto error_with = [&](const std::string& text) {
    fixture.program.files = {program_entry(fixture.folder.path(), text)};
    return message_of([&] { program_files(fixture.program); });
  };
  CHECK(error_with("nosuch.py") == "program.files: there is no file or folder " + root + "/nosuch.py");
  CHECK_THAT(error_with("../x.py"), Catch::Contains("/x.py lies outside of the recipe's folder"));
  REQUIRE(::mkfifo((root + "/pipe").c_str(), 0600) == 0);
  CHECK(error_with("pipe") == "program.files: " + root + "/pipe is neither a file nor a folder");
}

TEST_CASE("symbolic links in a program's folders are copied as the files and folders to which they lead")
{
  Fixture fixture;
  fixture.write("shared/deep/loss.py", "x = 3");
  fixture.link("net/shared", "../shared");
  fixture.link("net/again.py", "layers.py");
  CHECK(fixture.names() == std::vector<std::string>{"net/again.py", "net/layers.py", "net/shared/deep/loss.py", "train.py"});
  const auto id = program_id(fixture.run);
  const auto copy = fixture.copy_of(id);
  keep_program(fixture.program, id, copy);
  CHECK(read_file(copy / "net/shared/deep/loss.py") == "x = 3");
  fixture.write("shared/deep/loss.py", "x = 4");
  CHECK(program_id(fixture.run) != id);
}

TEST_CASE("a symbolic link that leads nowhere, or back to a folder that contains it, is refused by name")
{
  Fixture fixture;
  const auto net = std::filesystem::canonical(fixture.folder.path()).string() + "/net";
  fixture.link("net/gone", "../nosuch");
  CHECK_THAT(fixture.message(), Catch::Contains("/net/gone leads to ../nosuch, which does not exist"));
  std::filesystem::remove(fixture.folder.path() / "net/gone");
  fixture.write("net/deep/x.py", "x = 3");
  fixture.link("net/deep/up", "..");
  CHECK_THAT(fixture.message(), Catch::Contains("/net/deep/up leads back to " + net + ", the folder that contains it"));
  std::filesystem::remove(fixture.folder.path() / "net/deep/up");
  fixture.link("net/.hidden", "../nosuch"); // hidden files are no part of a program
  CHECK(fixture.names() == std::vector<std::string>{"net/deep/x.py", "net/layers.py", "train.py"});
}

TEST_CASE("a damaged copy of a program is made again, and is refused when the files have changed since")
{
  Fixture fixture;
  const auto id = program_id(fixture.run);
  const auto programs = fixture.folder.path() / "programs", copy = programs / id;
  keep_program(fixture.program, id, copy);
  write_file_atomic(copy / "train.py", "print(3)");
  keep_program(fixture.program, id, copy);
  CHECK(has_same_files(copy, id));
  CHECK(names_in(programs) == std::vector<std::string>{id}); // nothing is left of the damaged one

  std::filesystem::remove(copy / "train.py");
  fixture.write("train.py", "print(2)");
  CHECK_THAT(message_of([&] { keep_program(fixture.program, id, copy); }), Catch::Contains(copy.string() + " is damaged"));
}

TEST_CASE("what a process of the same id has left on another host is not in the way of a copy")
{
  Fixture fixture;
  const auto id = program_id(fixture.run);
  const auto copy = fixture.copy_of(id);
  fixture.write("programs/.new." + std::to_string(::getpid()) + "/train.py", "half of it");
  keep_program(fixture.program, id, copy);
  CHECK(has_same_files(copy, id));
}

TEST_CASE("the content of a program that the command names by an absolute path is in the id, if it is known here")
{
  Fixture fixture;
  fixture.write("bin/train", "one");
  const auto program = (fixture.folder.path() / "bin/train").string();
  const auto files_only = program_id(fixture.run);
  fixture.program.command = {program};
  const auto id = program_id(fixture.run);
  CHECK(id.starts_with(files_only + "-command-"));
  CHECK(has_same_command(fixture.run, id));
  CHECK(has_same_command(fixture.run, files_only)); // it was not known where the run was submitted
  fixture.write("bin/train", "two");
  CHECK_FALSE(has_same_command(fixture.run, id));
  CHECK(program_id(fixture.run) != id);
  std::filesystem::remove(program);
  CHECK(program_id(fixture.run) == files_only);
  CHECK_FALSE(has_same_command(fixture.run, id));
}

TEST_CASE("with a wrapper the command's program is not hashed, because it lies in the container")
{
  Fixture fixture;
  const auto files_only = program_id(fixture.run);
  fixture.write("bin/train", "one");
  fixture.program.command = {(fixture.folder.path() / "bin/train").string()};
  fixture.run.resources.wrapper = {"apptainer", "exec", "image.sif"};
  CHECK(program_id(fixture.run) == files_only);
}

TEST_CASE("the module with which programs report is copied into a folder once, and another file of its name is kept")
{
  const TemporaryFolder folder;
  const auto copy = copy_report_module(folder.path());
  CHECK(copy == folder.path() / "dtctl_report.py");
  CHECK(read_file(copy) == read_file(report_modules() / "dtctl_report.py"));
  CHECK(copy_report_module(folder.path()) == copy); // it is there
  write_file_atomic(copy, "mine");
  CHECK_THAT(message_of([&] { copy_report_module(folder.path()); }), Catch::Contains("is there already, with other content"));
  CHECK(read_file(copy) == "mine");
}
