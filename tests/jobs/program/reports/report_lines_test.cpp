#include "jobs/program/reports/report_lines.hpp"

#include "core/text.hpp"
#include "tests/jobs/playground.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("a line of a report is read as it was written")
{
  const RankLine start{3, 4711, "node7", "0-1,4", "2,3"};
  auto text = to_line(start);
  text.pop_back();
  const auto read = std::get<RankLine>(parse_report_line(text));
  CHECK(read.rank == 3);
  CHECK(read.pid == 4711);
  CHECK(read.host == "node7");
  CHECK(read.cores == "0-1,4");
  CHECK(read.gpus == "2,3");
  const auto step = std::get<StepLine>(parse_report_line("step 7 10.5 0.25 32 1.5 - - - 0.1 0.2 - 0"));
  CHECK(step.step == 7);
  CHECK(step.step_s == 0.25);
  CHECK(step.samples == 32);
  CHECK_FALSE(step.learning_rate);
  CHECK(std::isnan(step.phase_s[static_cast<std::size_t>(Phase::input)]));
  CHECK(step.phase_s[static_cast<std::size_t>(Phase::forward)] == 0.1);
  const auto pause = std::get<PauseLine>(parse_report_line("pause 0.5 1.5 -")).between;
  CHECK((pause.loader_s == 0.5 && pause.checkpoint_s == 1.5 && std::isnan(pause.other_s)));
  CHECK(std::get<ErrorLine>(parse_report_line("error 3 1800000000.25 ValueError: no such layer")).cause ==
        "ValueError: no such layer");
  CHECK(std::get<ErrorLine>(parse_report_line("error 3 1800000000.25 ValueError")).unix_s == 1800000000.25);
  CHECK(to_line(ErrorLine{3, 1800000000.25, "bad"}) == "error 3 1800000000.250000 bad\n");
  CHECK(to_line(FactLine{"python", "CPython 3.11.2"}) == "fact python CPython 3.11.2\n");
  const auto fact = std::get<FactLine>(parse_report_line("fact node_gpus 2 x NVIDIA A30"));
  CHECK((fact.name == "node_gpus" && fact.text == "2 x NVIDIA A30"));
  const auto noise = std::get<NoiseLine>(parse_report_line("noise 2.5 1.25 -")).in_batches;
  CHECK((noise.value == 2.5 && noise.low == 1.25 && std::isnan(noise.high)));
  const auto flops = std::get<FlopsLine>(parse_report_line("flops 2.5e10 bf16 - NVIDIA H100 80GB HBM3")).flops;
  CHECK((flops.per_sample == 2.5e10 && flops.precision == "bf16" && flops.device == "NVIDIA H100 80GB HBM3"));
  CHECK(std::isnan(flops.matmul));
  const auto unknown = std::get<FlopsLine>(parse_report_line("flops - - - -")).flops;
  CHECK((std::isnan(unknown.per_sample) && unknown.precision.empty() && unknown.device.empty()));
}

TEST_CASE("NaN and infinity are values of a loss and an accuracy, and what is not reported is none")
{
  const auto diverged = std::get<StepLine>(parse_report_line("step 7 10.5 0.25 32 NaN inf - - - - - -"));
  CHECK((diverged.loss && std::isnan(*diverged.loss)));
  CHECK(diverged.learning_rate == std::numeric_limits<double>::infinity());
  const auto evaluation = std::get<EvaluationLine>(parse_report_line("eval 7 10.5 0.25 NaN -inf -"));
  CHECK((evaluation.accuracy && std::isnan(*evaluation.accuracy)));
  CHECK(evaluation.loss == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(evaluation.samples));
}

TEST_CASE("a damaged line of a report is none")
{
  for (const auto& text : split("|step|step 1|step 7 10.5 0.25 32 1.5 nan nan nan 0.1 0.2 nan|step x 1 1 1 1 1 1 1 1 1 1 1|"
                                "step 7 10.5 -0.25 32 1.5 nan nan nan 0.1 0.2 nan 0|step -1 1 1 1 1 1 1 1 1 1 1 1|"
                                "eval 1 1 1 1.5 1 1|eval 1 1 1 -0.5 1 1|result 12|result 1 2 3|caveat copies|caveat copies	|"
                                "caveat unheard	of|flops 1 bf16|flops -1 bf16 1 cpu|other 1|step 1 inf 1 1 1 1 1 1 1 1 1 1|"
                                "step 1 1 1 NaN 1 1 1 1 1 1 1 1|step 1 1 1 inf 1 1 1 1 1 1 1 1|eval 1 1 1 inf 1 1|"
                                "step 1 1 1 1 -- 1 1 1 1 1 1 1",
                                '|')) {
    INFO(text);
    CHECK(std::holds_alternative<std::monostate>(parse_report_line(text)));
  }
}

TEST_CASE("lines are read when they are complete, each once")
{
  const jobs::testing::Folder folder;
  const auto path = folder.path() / "rank-0";
  LineTail tail(path);
  CHECK(tail.next().empty());
  std::ofstream(path, std::ios::app) << "one\ntw";
  CHECK(tail.next() == std::vector<std::string>{"one"});
  CHECK(tail.next().empty());
  std::ofstream(path, std::ios::app) << "o\nthree";
  CHECK(tail.next() == std::vector<std::string>{"two"});
}

TEST_CASE("lines of a progress bar end in carriage returns, and what comes after the last end is a line at the end")
{
  using Lines = std::vector<std::string>;
  LineCutter cutter(LineCutter::Ends::line_feed_or_carriage_return);
  CHECK(cutter.take("1%\r2%\r\n3") == Lines{"1%", "2%"});
  CHECK(cutter.take("%") == Lines{});
  CHECK(cutter.take(" done", true) == Lines{"3% done"});
  CHECK(cutter.take("", true).empty());
}

TEST_CASE("of a line of more than 64 KiB the beginning is kept and the line is counted, and the next line is whole")
{
  LineCutter cutter;
  CHECK(cutter.take(std::string(60'000, 'a')).empty());
  const auto lines = cutter.take(std::string(60'000, 'b') + "\nnext\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == std::string(60'000, 'a') + std::string(5'536, 'b'));
  CHECK(lines[1] == "next");
  CHECK(cutter.cut_lines() == 1);
}

TEST_CASE("a number at the end of a line that is cut is left out, because its end is not known")
{
  LineCutter cutter;
  const std::string begin = "loss 0.5 " + std::string(64 * 1024 - 14, 'x') + " 12";
  REQUIRE(begin.size() < 64 * 1024);
  const auto lines = cutter.take(begin + "3456\n");
  REQUIRE(lines.size() == 1);
  CHECK(cutter.cut_lines() == 1);
  CHECK(lines.front().ends_with("x "));
}

TEST_CASE("a block of a file has an end, so that a reader of much text can do other things meanwhile")
{
  const jobs::testing::Folder folder;
  const auto path = folder.path() / "much";
  std::ofstream(path) << std::string(600 * 1024, 'x');
  FileTail tail(path);
  CHECK(tail.next_block().size() == 256 * 1024);
  CHECK(tail.has_more());
  CHECK(tail.next().size() == 344 * 1024);
  CHECK_FALSE(tail.has_more());
  CHECK(tail.next_block().empty());
}
