#include "core/program/interpreter.hpp"

#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;

namespace {

// The objection to a script with this text, on this machine.
std::string objection_to(const std::string& text, const std::string& path = "/usr/bin:/bin")
{
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "run.sh";
  write_file_atomic(file, text);
  return objection_to_start(file, path);
}

} // namespace

TEST_CASE("a first line that names an interpreter that is not there is told")
{
  CHECK(objection_to("#!/bin/sh\necho\n").empty());
  CHECK(objection_to("echo\n").empty()); // sh runs it
  CHECK(objection_to("").empty());
  CHECK(objection_to("#!/usr/bin/env sh\n").empty());
  CHECK(objection_to("#!/usr/bin/env -S sh -u\n").empty());
  struct Row {
    const char *text, *objection;
  };
  for (const auto& [text, objection] : std::vector<Row>{
           {"#!/opt/none/python3\n", "its first line names the interpreter /opt/none/python3, which does not exist"},
           {"#!/usr/bin/env python9.9\n", "its first line names the interpreter python9.9, which is not in PATH"},
           {"#!/usr/bin/env sh -u\n",
            "its first line lets env look for a program of the name `sh -u`; write: #!/usr/bin/env -S sh -u"},
           {"#!/usr\n", "its first line names the interpreter /usr, which is not executable"},
           {"#!\n", "its first line names no interpreter behind `#!`"},
           {"#!/bin/sh\r\necho\r\n", "its first line ends with a carriage return, so it names the interpreter /bin/sh\\x0d"},
           {"#!/bin/sh -e\r\n", "its first line ends with a carriage return, so it names the interpreter /bin/sh -e\\x0d"}})
    CHECK_THAT(objection_to(text), Catch::StartsWith(objection));
  CHECK_THAT(objection_to("\xef\xbb\xbf#!/bin/sh\n"), Catch::Contains("byte order mark"));
}

TEST_CASE("elsewhere than here only the file's own bytes are judged")
{
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "run.sh";
  write_file_atomic(file, "#!/opt/none/python3\n");
  CHECK(objection_to_start(file, std::nullopt).empty());
  write_file_atomic(file, "#!/bin/sh\r\n");
  CHECK_FALSE(objection_to_start(file, std::nullopt).empty());
  CHECK(objection_to_start(folder.path(), std::nullopt) == "it is a folder");
}

TEST_CASE("a program for another processor, or without its loader, is told")
{
  auto bytes = read_file_if_exists("/bin/sh").value();
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "program";
  write_file_atomic(file, bytes);
  CHECK(objection_to_start(file, "").empty());
  const auto loader = bytes.find("/lib64/ld-linux");
  if (loader != std::string::npos) {
    auto other = bytes;
    other[loader + 1] = 'L';
    write_file_atomic(file, other);
    CHECK_THAT(objection_to_start(file, ""), Catch::Contains("needs the loader /Lib64/ld-linux"));
  }
  bytes[18] = static_cast<char>(0xf3); // RISC-V
  write_file_atomic(file, bytes);
  CHECK_THAT(objection_to_start(file, ""), Catch::Contains("another kind of processor"));
}
