// dtctl export --format jsonl, against --format csv and json.
#include "core/text.hpp"
#include "tests/cli/export/exporting_home.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// The rows of a CSV file, as Python reads them.
Json rows_of(const std::filesystem::path& csv)
{
  const auto read =
      run_command({"python3", "-c", "import csv, json, sys\nprint(json.dumps(list(csv.reader(open(sys.argv[1], newline='')))))",
                   csv.string()});
  INFO(read.err);
  return Json::parse(read.out);
}

std::string csv_text(const Json& value)
{
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? format_shortest(value.get<double>()) : std::to_string(value.get<std::int64_t>());
}

std::vector<std::string> lines_of(const std::string& text)
{
  auto lines = split(text, '\n');
  REQUIRE(lines.back().empty());
  lines.pop_back();
  return lines;
}

} // namespace

TEST_CASE("jsonl has a line for each run, and its values are those of csv")
{
  const ExportingHome home(hostile_name);
  REQUIRE(home.run({"export", "last", "--format", "csv", "-o", "runs.csv"}).ok());
  const auto csv = rows_of(home.file("runs.csv"));
  const auto lines = lines_of(home.run({"export", "last", "--format", "jsonl"}).out);
  REQUIRE(csv.size() == 3);
  REQUIRE(lines.size() == 2);
  for (std::size_t run = 0; run < lines.size(); ++run) {
    const auto object = Json::parse(lines[run]);
    REQUIRE(object.size() == csv[0].size());
    std::size_t column = 0;
    for (const auto& [name, value] : object.items()) {
      INFO(name);
      CHECK(name == csv[0][column]);
      CHECK(csv_text(value) == csv[run + 1][column++]);
    }
    CHECK(object.at("study") == hostile_name);
    CHECK(object.at("throughput") == 1000.0 * static_cast<double>(run + 1));
    CHECK(object.at("time_to_accuracy_s").is_null());
  }
}

TEST_CASE("jsonl goes to a file, which holds what standard output would, and --json prints the rows as json does")
{
  const ExportingHome home;
  const auto printed = home.run({"export", "--format", "jsonl"}).out;
  const auto written = home.run({"export", "-o", "runs.jsonl"}); // the ending of the name says the format
  CHECK(written.exit_code == 0);
  CHECK(home.run({"export", "--format", "jsonl", "--failed"}).out.empty()); // there is no such run
  CHECK(read_file(home.file("runs.jsonl")) == printed);
  CHECK(home.json({"export", "--format", "jsonl"}).at("runs") == home.json({"export", "--format", "json"}).at("runs"));
}

TEST_CASE("a format without its option, or an unknown one, is a usage error before anything is read")
{
  for (const auto* format : {"prometheus", "parquet"}) {
    const auto refused = Dtctl().run({"export", "all", "--format", format});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find(format) != std::string::npos);
  }
}
