#include "jobs/program/reports/report_lines.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/record/measuring/caveats.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::size_t longest_line = 64 * 1024, block_bytes = 256 * 1024;

// Takes the words of a line one after another. After the first word that does not fit, is_good is false.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  bool is_good() const { return good_; }
  bool is_done() const { return good_ && rest_.empty(); }

  std::string_view word()
  {
    const auto end = std::min(rest_.find(' '), rest_.size());
    const auto word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    good_ = good_ && !word.empty();
    return word;
  }

  template<class Number> Number number()
  {
    const auto value = number_of<Number>(word());
    good_ = good_ && value;
    return value.value_or(Number{});
  }

  // A figure that may be NaN or infinite.
  Reported figure()
  {
    const auto word = rest_.substr(0, rest_.find(' '));
    if (word == "-") return this->word(), std::nullopt;
    return number<double>();
  }

  // A finite number that is not below 0. not_measured: not reported.
  double quantity()
  {
    const auto value = figure();
    good_ = good_ && (!value || (*value >= 0 && std::isfinite(*value)));
    return or_not_measured(value);
  }

  std::int64_t count()
  {
    const auto value = number<std::int64_t>();
    good_ = good_ && value >= 0;
    return value;
  }

  std::string rest()
  {
    std::string text(rest_);
    rest_ = {};
    return text;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

template<class Line> ReportLine if_whole(const Words& words, Line line)
{
  return words.is_done() ? ReportLine(std::move(line)) : ReportLine();
}

ReportLine rank_line(Words& words)
{
  RankLine line;
  line.rank = words.number<int>();
  line.pid = words.number<int>();
  line.host = words.word();
  line.cores = words.word();
  line.gpus = words.word();
  return if_whole(words, line);
}

ReportLine worker_line(Words& words)
{
  WorkerLine line;
  line.pid = words.number<int>();
  line.ranks = words.number<int>();
  line.restarts = words.number<int>();
  return line.ranks >= 1 && line.restarts >= 0 ? if_whole(words, line) : ReportLine();
}

ReportLine step_line(Words& words)
{
  StepLine line;
  line.step = words.count();
  line.clock_s = words.quantity();
  line.step_s = words.quantity();
  line.samples = words.quantity();
  line.loss = words.figure();
  line.learning_rate = words.figure();
  line.epoch = words.quantity();
  for (const auto phase : {Phase::input, Phase::forward, Phase::backward, Phase::communication, Phase::optimizer})
    line.phase_s[static_cast<std::size_t>(phase)] = words.quantity();
  return if_whole(words, line);
}

PauseLine pause_line(Words& words)
{
  PauseLine line;
  line.between.loader_s = words.quantity();
  line.between.checkpoint_s = words.quantity();
  line.between.other_s = words.quantity();
  return line;
}

ReportLine evaluation_line(Words& words)
{
  EvaluationLine line;
  line.step = words.count();
  line.clock_s = words.quantity();
  line.eval_s = words.quantity();
  line.accuracy = words.figure();
  line.loss = words.figure();
  line.samples = words.quantity();
  const bool is_possible = !line.accuracy || std::isnan(*line.accuracy) || (*line.accuracy >= 0 && *line.accuracy <= 1);
  return is_possible ? if_whole(words, line) : ReportLine();
}

BeginLine begin_line(Words& words)
{
  BeginLine line;
  line.clock_s = words.quantity();
  line.step = words.count();
  return line;
}

ResultLine result_line(Words& words)
{
  ResultLine line;
  line.clock_s = words.quantity();
  line.parameters = words.quantity();
  return line;
}

ErrorLine error_line(Words& words)
{
  ErrorLine line;
  line.step = words.number<std::int64_t>();
  line.unix_s = words.quantity();
  line.cause = words.rest();
  return line;
}

ReportLine sync_line(Words& words)
{
  const auto role = words.word();
  const SyncLine line{role == "server", words.count()};
  return role == "server" || role == "worker" ? if_whole(words, line) : ReportLine();
}

ReportLine choice_line(Words& words)
{
  const auto text = words.rest();
  const auto tab = text.find('\t');
  return tab == std::string::npos || tab == 0 ? ReportLine() : ChoiceLine{text.substr(0, tab), text.substr(tab + 1)};
}

ReportLine caveat_line(Words& words)
{
  const auto text = words.rest();
  const auto tab = text.find('\t');
  if (tab == std::string::npos || !is_caveat_kind(std::string_view(text).substr(0, tab)) || tab + 1 == text.size()) return {};
  return CaveatLine{text.substr(0, tab), printable(text.substr(tab + 1))};
}

FlopsLine flops_line(Words& words)
{
  const auto known = [](std::string word) { return word == "-" ? std::string() : word; };
  RunFlops flops;
  flops.per_sample = words.quantity();
  flops.precision = known(std::string(words.word()));
  flops.matmul = words.quantity();
  flops.device = known(words.rest()); // names of GPUs have blanks
  return {std::move(flops)};
}

ReportLine exchange_line(Words& words)
{
  constexpr std::array<std::string_view, 5> names{"none", "unknown", "idle", "gradients", "some"}; // in the order of Exchange
  const auto found = std::ranges::find(names, words.word());
  return found == names.end() ? ReportLine() : if_whole(words, ExchangeLine{static_cast<Exchange>(found - names.begin())});
}

// Parses a line that the library dtctl_sync or the observer writes. Nothing for another tag.
ReportLine line_of_sync(std::string_view tag, Words& words)
{
  if (tag == "sync") return sync_line(words);
  if (tag == "choice") return choice_line(words);
  if (tag == "caveat") return caveat_line(words);
  if (tag == "traffic") {
    TrafficLine line;
    line.bytes = words.count();
    line.messages = words.count();
    return if_whole(words, line);
  }
  if (tag == "staleness") {
    StalenessLine line;
    line.age = words.count();
    line.updates = words.count();
    return if_whole(words, line);
  }
  if (tag == "bucket") {
    BucketRecord line;
    line.bytes = words.count();
    line.ready_s = words.quantity();
    line.lead_s = words.quantity();
    return if_whole(words, line);
  }
  if (tag == "gradient") {
    GradientLine line;
    line.bytes = words.count();
    line.lead_s = words.quantity();
    line.name = printable(words.rest());
    return line.name.empty() ? ReportLine() : if_whole(words, std::move(line));
  }
  if (tag == "isolated") {
    const IsolatedLine line{words.quantity()};
    return if_whole(words, line);
  }
  if (tag == "noise") {
    NoiseLine line;
    line.in_batches.value = words.quantity();
    line.in_batches.low = words.quantity();
    line.in_batches.high = words.quantity();
    return if_whole(words, line);
  }
  if (tag == "weights") {
    const WeightsLine line{std::string(words.word())};
    return if_whole(words, line);
  }
  return {};
}

} // namespace

ReportLine parse_report_line(std::string_view text)
{
  Words words(text);
  const auto tag = words.word();
  if (tag == "step") return step_line(words);
  if (tag == "pause") {
    auto line = pause_line(words);
    return if_whole(words, line);
  }
  if (tag == "eval") return evaluation_line(words);
  if (tag == "rank") return rank_line(words);
  if (tag == "worker") return worker_line(words);
  if (tag == "fact") {
    FactLine line{std::string(words.word()), {}};
    line.text = words.rest();
    return if_whole(words, std::move(line));
  }
  if (tag == "begin") {
    auto line = begin_line(words);
    return if_whole(words, line);
  }
  if (tag == "memory") {
    const MemoryLine line{words.quantity()};
    return if_whole(words, line);
  }
  if (tag == "error") {
    auto line = error_line(words);
    return if_whole(words, std::move(line));
  }
  if (tag == "result") {
    auto line = result_line(words);
    return if_whole(words, line);
  }
  if (tag == "flops") {
    auto line = flops_line(words);
    return if_whole(words, std::move(line));
  }
  if (tag == "exchange") return exchange_line(words);
  return line_of_sync(tag, words);
}

std::string to_line(const RankLine& line)
{
  return fmt::format("rank {} {} {} {} {}\n", line.rank, line.pid, line.host, line.cores, line.gpus);
}

std::string to_line(const FactLine& line) { return fmt::format("fact {} {}\n", line.name, printable(line.text)); }

std::string to_line(const ErrorLine& line)
{
  return fmt::format("error {} {:.6f} {}\n", line.step, line.unix_s, printable(line.cause));
}

std::string FileTail::next()
{
  std::string text;
  do {
    try {
      text += next_block();
    } catch (const SystemError&) {
      if (text.empty()) throw; // else what was read is used, and the next call meets the error again
      break;
    }
  } while (has_more_);
  return text;
}

std::string FileTail::next_block()
{
  has_more_ = false;
  const auto file = open_if_exists(path_);
  if (!file.is_open()) return {};
  std::string block(block_bytes, '\0');
  ssize_t got = 0;
  do got = ::pread(file.get(), block.data(), block.size(), offset_);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw system_error("read " + path_.string(), errno);
  offset_ += got;
  has_more_ = got == static_cast<ssize_t>(block_bytes);
  block.resize(static_cast<std::size_t>(got));
  return block;
}

std::int64_t FileTail::left() const
{
  const auto file = open_if_exists(path_);
  if (!file.is_open()) return 0;
  const auto size = ::lseek(file.get(), 0, SEEK_END);
  return std::max<std::int64_t>(size - offset_, 0);
}

void LineCutter::leave_out(std::string_view piece)
{
  rest_.clear();
  is_cut_ = false;
  is_left_out_ = !piece.empty() && ends().find(piece.back()) == std::string_view::npos;
}

void LineCutter::end_line(std::vector<std::string>& lines)
{
  if (std::exchange(is_left_out_, false)) return leave_out({});
  cut_lines_ += is_cut_ ? 1 : 0;
  if (is_cut_) rest_.erase(rest_.find_last_not_of("0123456789.,_'+-eE") + 1); // it may be half a number
  is_cut_ = false;
  if (ends_ == Ends::line_feed || !rest_.empty()) lines.push_back(std::exchange(rest_, {}));
}

std::vector<std::string> LineCutter::take(std::string_view piece, bool is_last)
{
  std::vector<std::string> lines;
  while (!piece.empty()) {
    const auto end = piece.find_first_of(ends());
    const auto part = piece.substr(0, end);
    const auto room = longest_line - rest_.size();
    is_cut_ = is_cut_ || part.size() > room;
    rest_ += part.substr(0, room);
    if (end == std::string_view::npos) break;
    end_line(lines);
    piece.remove_prefix(end + 1);
  }
  if (is_last && !rest_.empty()) end_line(lines);
  return lines;
}

std::filesystem::path report_file(const AttemptFolder& attempt, std::size_t rank)
{
  return attempt.path_of(AttemptFile::reports) / fmt::format("rank-{}", rank);
}

std::string report_of_each_rank(const AttemptFolder& attempt)
{
  return (attempt.path_of(AttemptFile::reports) / "rank-{RANK}").string();
}

std::optional<StartedRank> started_rank(const AttemptFolder& attempt, std::size_t rank)
{
  StartedRank started;
  for (const auto& text : LineTail(report_file(attempt, rank)).next_block()) {
    const auto line = parse_report_line(text);
    if (const auto* fact = std::get_if<FactLine>(&line)) {
      started.facts[fact->name] = fact->text;
    } else if (const auto* start = std::get_if<RankLine>(&line)) {
      started.line = *start;
      return started;
    } else {
      return {};
    }
  }
  return {};
}

} // namespace dt::jobs
