#include "core/program/program_files.hpp"

#include "core/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::message_of;
using dt::test::TemporaryFolder;

namespace {

struct Fixture {
  TemporaryFolder folder;
  ProgramSpec program{.command = {"python3", "train.py"}, .files = {}, .parameters = {}, .metrics = {}, .environment = {}};
  Fixture()
  {
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
  std::vector<std::string> names() const
  {
    std::vector<std::string> found;
    for (const auto& file : program_files(program)) found.push_back(file.name);
    return found;
  }
};

} // namespace

TEST_CASE("a program's files are those that the recipe names and those in its folders, without hidden and compiled ones")
{
  const Fixture fixture;
  CHECK(fixture.names() == std::vector<std::string>{"net/layers.py", "train.py"});
}

TEST_CASE("the id of a program follows the content, the names and the permissions of its files, and nothing else")
{
  Fixture fixture;
  const auto before = program_id(fixture.program);
  fixture.write("other.py", "x = 2");
  CHECK(program_id(fixture.program) == before);
  std::filesystem::permissions(fixture.folder.path() / "train.py", std::filesystem::perms::owner_all);
  const auto executable = program_id(fixture.program);
  CHECK(executable != before);
  fixture.write("net/layers.py", "x = 2");
  CHECK(program_id(fixture.program) != before);
}

TEST_CASE("the same files in another folder are the same program")
{
  const Fixture one, other;
  CHECK(program_id(one.program) == program_id(other.program));
}

TEST_CASE("a copy has the id of its program, and a changed copy has not")
{
  Fixture fixture;
  const auto id = program_id(fixture.program);
  const auto copy = fixture.folder.path() / "programs" / id;
  keep_program(fixture.program, id, copy);
  CHECK(program_id_of_copy(fixture.program, copy) == id);
  fixture.write("train.py", "print(2)"); // the source, not the copy
  CHECK(program_id_of_copy(fixture.program, copy) == id);
  copy_program(copy, fixture.folder.path() / "work");
  CHECK(read_file(fixture.folder.path() / "work" / "net" / "layers.py") == "x = 1");
  write_file_atomic(copy / "train.py", "print(3)");
  CHECK(program_id_of_copy(fixture.program, copy) != id);
}

TEST_CASE("files that change between the hash and the copy are not copied")
{
  Fixture fixture;
  const auto id = program_id(fixture.program);
  fixture.write("train.py", "print(2)");
  const auto copy = fixture.folder.path() / "programs" / id;
  CHECK(message_of([&] { keep_program(fixture.program, id, copy); }) ==
        "program.files: a file was changed during the submission; submit again");
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
  CHECK(error_with("../x.py") == "program.files: " + fixture.folder.path().parent_path().string() +
                                     "/x.py lies outside of the recipe's folder; name files and folders in it or below it");
  REQUIRE(::mkfifo((root + "/pipe").c_str(), 0600) == 0);
  CHECK(error_with("pipe") == "program.files: " + root + "/pipe is neither a file nor a folder");
}
