// dtctl export --format jsonl, against --format csv and json.
#include "core/text.hpp"
#include "tests/cli/export/exporting_home.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// The rows of a CSV document (RFC 4180).
std::vector<std::vector<std::string>> rows_of(const std::string& csv)
{
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool is_quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    auto& value = rows.back().back();
    if (is_quoted && csv[i] == '"' && csv.substr(i, 2) == "\"\"")
      value += csv[i++];
    else if (csv[i] == '"')
      is_quoted = !is_quoted;
    else if (is_quoted)
      value += csv[i];
    else if (csv[i] == ',')
      rows.back().emplace_back();
    else if (csv.substr(i, 2) == "\r\n") {
      ++i;
      rows.emplace_back(1);
    } else
      value += csv[i];
  }
  rows.pop_back(); // after the last line end
  return rows;
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
  const auto csv = rows_of(home.run({"export", "last", "--format", "csv"}).out);
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
  CHECK(written.out == "written to  runs.jsonl\nruns        2\n");
  CHECK(read_file(home.file("runs.jsonl")) == printed);
  CHECK(home.json({"export", "--format", "jsonl"}).at("runs") == home.json({"export", "--format", "json"}).at("runs"));
}

TEST_CASE("jsonl of no run is an empty text")
{
  const ExportingHome home;
  CHECK(home.run({"export", "--format", "jsonl", "--failed"}).out.empty());
}

TEST_CASE("a format without its option, or with that of another one, is a usage error before anything is read")
{
  const Dtctl dtctl;
  const auto refusal = [&](const Words& words) {
    const auto result = dtctl.run(with({"export", "all"}, words));
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const auto message = [](const std::string& what) { return "dtctl: error: " + what + "; see: dtctl export --help\n"; };
  CHECK(refusal({"--format", "prometheus"}) == message("--format prometheus needs the file to write: --output FILE.prom"));
  CHECK(refusal({"--format", "parquet"}).find("parquet") != std::string::npos);
}
