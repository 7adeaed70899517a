// The units that programs print beside their numbers, behind them or in front. The one grammar of units:
//
//   unit   = [ prefix ] rate | time [ per thing ] | prefix
//   rate   = [ thing ] per time [ per "gpu" ]                     "it/s", "tokens per second", "samples_per_sec", "/s"
//   thing  = letters                                              "it", "step", "batch": a step of the training
//   time   = "s" | "ms" | "us" | "ns" | "min" | "h", or longer words for these
//   per    = "/" | "per", with blanks or "_" around it
//   prefix = "k" | "K" | "M" | "G" | "T"                          thousands, never 1024
//
// Behind a number a unit may stand in brackets: "523 ms", "523ms", "2.00it/s", "12K tok/s", "5 [ms]". In front of it, it stands
// in brackets or ends the label: "time (ms): 523", "step_time_ms=50.25", "time/ms 5", "ms/batch 5", "'samples_per_second': 640".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dt {

struct PrintedUnit {
  enum class Kind {
    prefix, // of a number without another unit: `factor` multiplies it
    time,   // `factor`: seconds
    rate,   // `factor`: of the things in a second
  };
  Kind kind = Kind::prefix;
  double factor = 1;
  bool is_per_step = false;   // the time of one step, or a rate of steps
  bool is_per_device = false; // a rate of each GPU
  bool is_doubtful = false;   // it may be the unit of the number before, or a word such as `min`, which is also the minimum
  std::string text;           // as it is printed
};

// Of the text behind a number, beginning with its next character; nothing if no unit stands there.
std::optional<PrintedUnit> unit_behind(std::string_view behind);
// Of the text in front of a number.
std::optional<PrintedUnit> unit_in_front(std::string_view before);

// Whether the label in front of a number says that it is of one step: "time per iteration (ms): ".
bool says_per_step(std::string_view before);

// The text with "4.00it/s" for "4.00s/it", and the other way round: of the same length. Progress bars turn their rates over when
// they fall below 1, so an expression for one of the two must find the other. Nothing if the text has no such rate.
std::optional<std::string> with_rates_turned(std::string_view text);

} // namespace dt
