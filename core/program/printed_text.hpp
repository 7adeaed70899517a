// What programs print: text with terminal codes in it, and numbers. The one grammar of printed numbers:
//
//   number   = [ sign ] ( whole [ "." [ digits ] ] | "." digits ) [ exponent ]
//            | [ sign ] ( "nan" | "inf" | "infinity" )                             in upper or lower case
//   whole    = digits | groups
//   digits   = 1*digit                                                             0 to 9
//   groups   = 1*3digit 1*( mark 3digit )                                          "12,640"; does not begin with 0
//   mark     = "," | "_" | "'" | "’" | a no-break space                            the same one in all of a number
//   exponent = ( "e" | "E" ) [ sign ] digits | ( "d" | "D" ) sign digits           Fortran prints "d"
//   sign     = "+" | "-" | "−"                                                     "−" is U+2212
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// The text as a reader of a terminal sees it, for expressions: without colours and other terminal codes, without what backspaces
// delete, without characters of no width. Codes that move the cursor, tabs excepted, and wide blanks become blanks; bytes that
// are no UTF-8 become "?". A no-break space between digits stays, because it may divide groups of digits.
std::string plain_text(std::string_view printed);

// What a terminal shows after all of this was printed: of a progress bar its last state, where carriage returns, backspaces and
// codes that move the cursor overwrite what was there. Colours and titles are left out. Lines that have scrolled away cannot be
// overwritten on a terminal; here they can.
std::string shown_text(std::string_view printed);

// The value of a text that is one number; nothing for other texts and for numbers that no double holds, such as 1e400.
std::optional<double> parse_printed_number(std::string_view text);

struct TextPart {
  std::size_t begin = 0, end = 0;
};

// The place of what a reader takes for one number around these bytes of a plain text: in "lr 1.5e-05 ", all of "1.5e-05" for the
// bytes of "05". Besides numbers these are "0x1F", "3×10^", "0,53" and "1.234,5", which have no value here. Nothing if
// the bytes are no part of a number. A `-` in front belongs to the number unless it joins words.
std::optional<TextPart> number_around(std::string_view text, TextPart part);

// The same text with these digits in place of each "nan" and "inf", and their places in it. An expression that is written for
// digits then finds where the program has printed that it has no number.
struct WithoutNan {
  struct Place {
    TextPart part; // in `text`
    double value = 0;
  };
  std::string text;
  std::vector<Place> places;
};
WithoutNan without_nan(std::string_view text, std::string_view digits);

} // namespace dt
