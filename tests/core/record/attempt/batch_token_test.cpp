#include "core/record/attempt/batch_token.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("a token is read back as it was written, and other schedulers' tokens are none")
{
  const BatchToken token{BatchKind::array, "0123456789abcdef", 417};
  CHECK(format_token(token) == "a0123456789abcdef.417");
  const auto back = parse_token(format_token(token));
  REQUIRE(back);
  CHECK(back->kind == BatchKind::array);
  CHECK(back->batch == token.batch);
  CHECK(back->index == 417);
  for (const auto* text : {"", "0123456789abcdef0123456789abcdef", "x0123456789abcdef.1", "a0123456789abcdef",
                           "a0123456789abcdef.", "a0123456789ABCDEF.1", "a0123456789abcdef.-1", "a0123456789abcdef.1x"}) {
    INFO(text);
    CHECK_FALSE(parse_token(text));
  }
}

TEST_CASE("only a whole token of a ladder's run is one of a ladder")
{
  CHECK(is_of_ladder("l0123456789abcdef.1"));
  CHECK_FALSE(is_of_ladder("a0123456789abcdef.1"));
  CHECK_FALSE(is_of_ladder("l0123456789abcdef"));
  CHECK_FALSE(is_of_ladder("0123456789abcdef0123456789abcdef")); // the local scheduler's
}
