// The table of an attempt's files, and docs/run-folder.md, which prints it.
#include "core/record/attempt_files.hpp"

#include "core/files/file.hpp"
#include "core/record/fields.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <set>

using namespace dt;

namespace {

std::filesystem::path document_path() { return std::filesystem::path(DTCTL_SOURCE_DIR) / "docs/run-folder.md"; }

// The table as docs/run-folder.md has it.
std::string table()
{
  std::string text = "| file | what it holds | written by |\n|---|---|---|\n";
  for (const auto& row : attempt_files()) {
    const auto name = std::string(row.name) + (row.within.empty() ? "" : "/" + std::string(row.within));
    text += "| `" + name + "` | " + row.holds + " | " + std::string(row.writer) + " |\n";
  }
  return text;
}

// A line of events.log in docs/run-folder.md's notation, on one line.
template<class Record> std::string line_of(std::string_view tag, Fields<Record> fields)
{
  std::string text(tag);
  text += " = \"" + std::string(tag) + "\"";
  for (const auto& field : fields) {
    const auto figure = "SP " + std::string(field.name);
    text += field.presence == Presence::later ? " [ " + figure + " ]" : " " + figure;
  }
  return text + " LF";
}

std::string with_single_blanks(const std::string& text)
{
  std::string single;
  for (const char c : text)
    if (const char blank = c == '\n' ? ' ' : c; blank != ' ' || !single.ends_with(' ')) single += blank;
  return single;
}

} // namespace

TEST_CASE("docs/run-folder.md has the lines of events.log as they are")
{
  const auto text = with_single_blanks(read_file(document_path()));
  CHECK(text.find(line_of("step", step_event_fields())) != std::string::npos);
  CHECK(text.find(line_of("eval", eval_event_fields())) != std::string::npos);
}

TEST_CASE("docs/run-folder.md lists the files of an attempt as they are")
{
  auto text = read_file(document_path());
  const std::string begin = "<!-- files of an attempt -->\n", end = "<!-- end of files -->";
  const auto at = text.find(begin) + begin.size(), until = text.find(end);
  REQUIRE(until != std::string::npos);
  if (std::getenv("DTCTL_REGENERATE") != nullptr) {
    text.replace(at, until - at, table());
    std::ofstream(document_path()) << text;
    return;
  }
  INFO("to write it again: DTCTL_REGENERATE=1 build/dev/tests/test_core \"docs/run-folder.md lists the files of an attempt as "
       "they are\"");
  CHECK(text.substr(at, until - at) == table());
}

TEST_CASE("each file of an attempt has one row, in the order of AttemptFile, with a name of its own")
{
  std::set<std::string_view> names;
  std::size_t index = 0;
  for (const auto& row : attempt_files()) {
    INFO(row.name);
    CHECK(static_cast<std::size_t>(row.file) == index++);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.holds.empty());
    CHECK_FALSE(row.writer.empty());
    CHECK(row.holds.find('|') == std::string::npos); // it would end the cell
  }
  CHECK(index == attempt_file_count);
}

TEST_CASE("the algorithms of a run are those of the newest attempt that has recorded any, up to a given one")
{
  const test::TemporaryFolder folder;
  CHECK_FALSE(recorded_algorithms(folder.path()));
  for (const int number : {1, 2, 3, 10}) make_folders(AttemptFolder(folder.path(), number).path());
  CHECK_FALSE(recorded_algorithms(folder.path()));
  for (const int number : {1, 3}) write_file_atomic(AttemptFolder(folder.path(), number).algorithms(), "{}");
  CHECK(recorded_algorithms(folder.path()) == AttemptFolder(folder.path(), 3).algorithms());
  CHECK(recorded_algorithms(folder.path(), 3) == AttemptFolder(folder.path(), 3).algorithms());
  CHECK(recorded_algorithms(folder.path(), 2) == AttemptFolder(folder.path(), 1).algorithms());
}

TEST_CASE("a folder of an attempt finds its files by the names in the table")
{
  const AttemptFolder attempt("/runs/k", 2);
  CHECK(attempt.begin() == "/runs/k/attempts/2/begin.json");
  CHECK(attempt.path_of(AttemptFile::load) == "/runs/k/attempts/2/load.json");
  CHECK(attempt.err() == "/runs/k/attempts/2/stderr");
  CHECK(attempt.checkpoints() == "/runs/k/attempts/2/checkpoints");
  CHECK(attempt.run_folder() == "/runs/k");
  CHECK(spec_path("/runs/k") == "/runs/k/spec.json");
  const AttemptFolder same(attempt.path());
  CHECK(same.number() == 2);
  CHECK(same.run_folder() == attempt.run_folder());
}
