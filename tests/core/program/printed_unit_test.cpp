#include "core/program/printed_unit.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using Kind = PrintedUnit::Kind;

namespace {

// "time 0.001", "rate 1 a step", "none"
std::string words(const std::optional<PrintedUnit>& unit)
{
  if (!unit) return "none";
  const char* kind = unit->kind == Kind::time ? "time" : unit->kind == Kind::rate ? "rate" : "prefix";
  std::string text = std::string(kind) + " " + std::to_string(unit->factor);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  if (unit->is_per_step) text += " of a step";
  if (unit->is_per_device) text += " of a device";
  return unit->is_doubtful ? text + "?" : text;
}

std::string behind(const char* text) { return words(unit_behind(text)); }
std::string in_front(const char* text) { return words(unit_in_front(text)); }

} // namespace

TEST_CASE(
    "a unit behind a number is a time, a rate or thousands, and what is no unit is none, nor is the label of the next number")
{
  CHECK(behind("ms") == "time 0.001");
  CHECK(behind(" ms, loss 2") == "time 0.001");
  CHECK(behind(" \u00b5s") == "time 0.000001");
  CHECK(behind(" [ms] data") == "time 0.001");
  CHECK(behind(" min") == "time 60");
  CHECK(behind("s") == "time 1");
  CHECK(behind("it/s, loss=1") == "rate 1 of a step");
  CHECK(behind("s/it]") == "time 1 of a step");
  CHECK(behind(" ms/step") == "time 0.001 of a step");
  CHECK(behind(" img/sec") == "rate 1");
  CHECK(behind("K tok/s") == "rate 1000");
  CHECK(behind(" ktok/s") == "rate 1000");
  CHECK(behind("k") == "prefix 1000");
  CHECK(behind(" samples/min")[0] == 'r');
  CHECK(behind(" tokens per second") == "rate 1");
  CHECK(behind(" tok/s/gpu") == "rate 1 of a device");
  CHECK(behind("/s") == "rate 1");
  for (const char* text :
       {"", ", loss 2", " minimal", ": step", " k-means", " images in 2 s", " (0.060) Data", "/30 [00:01", " ms: 5", "st"})
    CHECK(behind(text) == "none");
}

TEST_CASE("a unit in front of a number stands in brackets or ends the label, and a word that may be something else is none, or "
          "doubtful")
{
  CHECK(in_front("elapsed time per iteration (ms): ") == "time 0.001");
  CHECK(in_front("step_time_ms=") == "time 0.001");
  CHECK(in_front("time [ms] ") == "time 0.001");
  CHECK(in_front("time/ms: ") == "time 0.001");
  CHECK(in_front("{'time_ms': ") == "time 0.001");
  CHECK(in_front("stepTimeMs=") == "time 0.001");
  CHECK(in_front("| ms/batch ") == "time 0.001 of a step");
  CHECK(in_front("ms per step: ") == "time 0.001 of a step");
  CHECK(in_front("Time (s): ") == "time 1");
  CHECK(in_front("Time (min): ") == "time 60");
  CHECK(in_front("'train_samples_per_second': ") == "rate 1");
  CHECK(in_front("images/sec: ") == "rate 1");
  CHECK(in_front("throughput (K tok/s): ") == "rate 1000");
  CHECK(in_front("dt_us ") == "time 0.000001");
  for (const char* text : {"params=", "items: ", "min: ", "loss ", "in ", "(min/max): ", "Time ", "k=", ""}) {
    INFO(text);
    CHECK(in_front(text) == "none");
  }
  CHECK(in_front("time_min=") == "time 60?");
  CHECK(in_front("step 100 ms/batch ") == "time 0.001 of a step?");
  CHECK(in_front("in 50 ms ") == "time 0.001?");
}

TEST_CASE("a rate that was turned over has the other unit at the same place")
{
  CHECK(with_rates_turned("3/30 [00:10<00:05, 4.00s/it, loss=1]") == "3/30 [00:10<00:05, 4.00it/s, loss=1]");
  CHECK(with_rates_turned("2.00it/s") == "2.00s/it");
  CHECK_FALSE(with_rates_turned("loss 1, 5 ms/it"));
}
