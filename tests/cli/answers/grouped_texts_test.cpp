// Sentences about several labels.
#include "cli/answers/grouped_texts.hpp"

#include <catch2/catch.hpp>

using namespace dt::cli;

namespace {

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("what holds for all labels is said once, and what holds for some names them")
{
  const std::vector<LabelledText> texts{{"a", "Weak scaling."}, {"a", "One piece."},    {"b", "Weak scaling."},
                                        {"b", "Two pieces."},   {"c", "Weak scaling."}, {"c", "One piece."},
                                        {"b", "One switch."},   {"a", "One switch."},   {"c", "One switch."}};
  CHECK(grouped_texts(texts, {"a", "b", "c"}) == Texts{"Weak scaling.", "One switch.", "a, c: One piece.", "b: Two pieces."});
}

TEST_CASE("sentences that differ in one number are said once with all numbers")
{
  const std::vector<LabelledText> texts{{"a", "A step takes 1.02 times as long."},
                                        {"b", "A step takes 0.97 times as long."},
                                        {"c", "A step takes 1.02 times as long."},
                                        {"a", "3 of 4."},
                                        {"b", "1 of 2."}};
  CHECK(grouped_texts(texts, {"a", "b", "c"}) ==
        Texts{"A step takes 1.02 (a, c), 0.97 (b) times as long.", "a: 3 of 4.", "b: 1 of 2."});
  CHECK(grouped_texts(std::vector<LabelledText>{{"", "Size 4 is far."}, {"", "Size 8 is far."}}, {""}) ==
        Texts{"Size 4 is far.", "Size 8 is far."});
}
