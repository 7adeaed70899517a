#include "core/units.hpp"

#include "tests/core/variable.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <ctime>
#include <limits>
#include <random>

using namespace dt;

TEST_CASE("every form of a duration is read")
{
  struct Row {
    std::string_view text;
    std::int64_t seconds;
  };
  const std::vector<Row> rows{{"0", 0},         {"90s", 90},           {"007m", 420},          {"45s", 45},
                              {"2m", 120},      {"3h", 10800},         {"2d", 172800},         {"1w", 604800},
                              {"1h30m", 5400},  {"1h30m15s", 5415},    {"1d12h", 129600},      {"1w2d3h4m5s", 788645},
                              {"1h5s", 3605},   {"90m", 5400},         {"0h0m1s", 1},          {"00:30", 30},
                              {"1:30", 90},     {"90:00", 5400},       {"01:30:00", 5400},     {"100:00:00", 360000},
                              {"00:00:00", 0},  {"1-00:00:00", 86400}, {"2-03:04:05", 183845}, {"0-01:30:00", 5400},
                              {"1-12", 129600}, {"2-00:00", 172800},   {"1-1:30", 91800},      {"0-1:30", 5400},
                              {"0-0", 0}};
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK(parse_duration_s(row.text) == row.seconds);
  }
  CHECK(parse_duration_s("1099511627776s") == (std::int64_t{1} << 40));
}

TEST_CASE("what is no duration is refused, not guessed")
{
  const std::vector<std::vector<std::string_view>> refused{
      {"", " ", "x", "h", "1h 30m", " 1h", "1h ", "30m1h", "1h1h", "1h30", "1\n", "5 s", "1H", "1hour", "1y", {"1\0", 2}},
      {"1:60", "60:60", "1:60:00", "1:00:60", ":", "1:", ":1", "::", "1::2", "1:2:3:4", "1:-1", "1:+1"},
      {"-5", "+5", "-1h", "1.5h", "1,5h", "1e3", "0x10", "30", "90", "00"},
      {"1-", "-1:00", "1-2h", "1-1:60", "1-1:2:3:4", "1-:30", "1--0:30:00", "1-1-01:00:00", "-0:30:00"},
      {"99999999999999999999", "1099511627777s", "99999999999999999w", "9223372036854775807s", "20000000w", "9999999999:00:00",
       "9999999999999-00:00:00"}};
  for (const auto& kind : refused)
    for (const auto text : kind) {
      INFO('"' << text << '"');
      CHECK_FALSE(parse_duration_s(text));
    }
}

TEST_CASE("a number without a unit is refused with both readings of it")
{
  CHECK(duration_refusal("30") == "needs a unit: write 30m for 30 minutes, which is what Slurm reads, or 30s for 30 seconds");
  CHECK_THAT(duration_refusal("1"), Catch::Contains("1m for 1 minute") && Catch::Contains("1s for 1 second"));
  CHECK(duration_refusal("1.5h") ==
        "must be a duration such as 90m, 1h30m, 01:30:00 or 2-12:00:00 (days-hours:minutes:seconds), not `1.5h`");
}

TEST_CASE("a duration is shown in its two largest units that are not zero")
{
  CHECK(format_duration(0) == "0s");
  CHECK(format_duration(45) == "45s");
  CHECK(format_duration(60) == "1m");
  CHECK(format_duration(5400) == "1h30m");
  CHECK(format_duration(5415) == "1h30m");
  CHECK(format_duration(183845) == "2d3h");
  CHECK(format_duration(3605) == "1h5s");
  CHECK(format_duration(86400 + 300) == "1d5m");
  CHECK(format_duration(59.6) == "1m");
  CHECK(format_duration(0.4) == "0s");
}

TEST_CASE("a duration that is not known and one without an end have different words, and a negative one is none")
{
  CHECK(format_duration(std::nan("")) == "unknown");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "infinite");
  CHECK(format_duration(1e300) == "infinite");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "infinite");
  CHECK(format_duration(-3) == "0s");
}

TEST_CASE("a shown duration reads back, exactly when two units hold it, else to less than the smaller of them")
{
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto seconds = static_cast<std::int64_t>(random() >> (24 + random() % 40)); // up to 2^40, small ones too
    const auto shown = format_duration(static_cast<double>(seconds));
    const auto back = parse_duration_s(shown);
    INFO(seconds << " is shown as " << shown);
    REQUIRE(back);
    CHECK(*back <= seconds);
    CHECK(seconds - *back < (seconds < 86400 ? 60 : 3600));
    CHECK(format_duration(static_cast<double>(*back)) == shown);
  }
}

TEST_CASE("bytes are shown in the binary unit that fits")
{
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(1.5 * (1 << 30)) == "1.5 GiB");
  CHECK(format_bytes(std::ldexp(1, 40)) == "1.0 TiB");
  CHECK(format_bytes(std::ldexp(1, 50)) == "1.0 PiB");
  CHECK(format_bytes(std::ldexp(1, 61)) == "2048.0 PiB");
  CHECK(format_bytes(-2048) == "-2.0 KiB");
}

TEST_CASE("seconds are shown to three digits with the unit that fits")
{
  CHECK(format_seconds(0) == "0 s");
  CHECK(format_seconds(1e-20) == "0 s");
  CHECK(format_seconds(1.5e-9) == "1.5 ns");
  CHECK(format_seconds(2.5e-6) == "2.5 µs");
  CHECK(format_seconds(0.00153) == "1.53 ms");
  CHECK(format_seconds(0.5) == "500 ms");
  CHECK(format_seconds(1) == "1 s");
  CHECK(format_seconds(12.44) == "12.4 s");
  CHECK(format_seconds(99.4) == "99.4 s");
  CHECK(format_seconds(100) == "1m40s");
  CHECK(format_seconds(5400) == "1h30m");
  CHECK(format_seconds(200000) == "2d7h");
  CHECK(format_seconds(std::nan("")) == "unknown");
  CHECK(format_seconds(-0.25) == "-250 ms");
  CHECK(format_seconds(-100) == "-1m40s");
}

TEST_CASE("a time just below a unit is shown in the next, never with an exponent")
{
  CHECK(format_seconds(0.99999) == "1 s");
  CHECK(format_seconds(0.00099999) == "1 ms");
  CHECK(format_seconds(0.00000099999) == "1 µs");
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> exponent(-9, 6);
  for (int round = 0; round < 2000; ++round) {
    const auto shown = format_seconds(std::pow(10.0, exponent(random)));
    INFO(shown);
    CHECK(shown.find('e') == std::string::npos);
  }
}

TEST_CASE("a rate is shown to three digits with the unit that fits, never with an exponent")
{
  CHECK(format_rate(124e6) == "124 MB/s");
  CHECK(format_rate(1.9e9) == "1.9 GB/s");
  CHECK(format_rate(999.9e6) == "1 GB/s");
  CHECK(format_rate(2.5e13) == "25000 GB/s");
  CHECK(format_rate(12) == "12 B/s");
  CHECK(format_rate(1 / 0.0) == "unlimited");
}

TEST_CASE("a moment is shown in UTC as ISO 8601, whole seconds, rounded down, and in local time by the zone, and now is after "
          "this test was written")
{
  CHECK(format_time_utc(0) == "1970-01-01T00:00:00Z");
  CHECK(format_time_utc(1795233906) == "2026-11-21T04:05:06Z");
  CHECK(format_time_utc(1795233906.999) == "2026-11-21T04:05:06Z");
  CHECK(format_time_utc(1709210096) == "2024-02-29T12:34:56Z");
  CHECK(format_time_utc(-0.5) == "1969-12-31T23:59:59Z");
  {
    const test::Variable zone("TZ", "XYZ-1"); // an hour east of UTC
    ::tzset();
    CHECK(format_time_local(1795233906) == "2026-11-21 05:05:06");
  }
  ::tzset();
  const auto first = now_unix_s();
  CHECK(first > 1.79e9);
  CHECK(first < 1e11);
  CHECK(now_unix_s() >= first);
}

TEST_CASE("short times and rates are read with their units, and nothing else is")
{
  CHECK(parse_short_time_s("50us") == Approx(50e-6));
  CHECK(parse_short_time_s("1.5 ms") == Approx(1.5e-3));
  CHECK(parse_short_time_s("0s") == 0.0);
  for (const auto* wrong : {"", "50", "us", "-1us", "1 hour", "1us ", "nans", "infs"}) CHECK_FALSE(parse_short_time_s(wrong));
  CHECK(parse_rate_bytes_per_s("1 Gbit/s") == Approx(125e6));
  CHECK(parse_rate_bytes_per_s("12.5GB/s") == Approx(12.5e9));
  CHECK(parse_rate_bytes_per_s("100 MiB/s") == Approx(100 * 1048576.0));
  for (const auto* wrong : {"", "1", "0 MB/s", "-1 MB/s", "1 Gbps", "GB/s"}) CHECK_FALSE(parse_rate_bytes_per_s(wrong));
}
