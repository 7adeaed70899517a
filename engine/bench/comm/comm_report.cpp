#include "engine/bench/comm/comm_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::bench {
namespace {

std::string size_text(std::int64_t bytes)
{
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string row_text(const CommRow& row, int ranks)
{
  const double gbyte_per_s = 2e-9 * static_cast<double>(row.bytes) * (ranks - 1) / ranks / row.median_s;
  auto line = fmt::format("{:>9}  {:<24} {:>12.1f} {:>12.1f} {:>12.1f} {:>7} {:>9.3f}", size_text(row.bytes), row.algorithm,
                          1e6 * row.median_s, 1e6 * row.low_s, 1e6 * row.high_s, row.repeats, gbyte_per_s);
  line += row.against_mpi > 0 ? fmt::format(" {:>7.2f}x", row.against_mpi) : fmt::format(" {:>8}", "");
  if (row.bound_s > 0) line += fmt::format(" {:>7.1f}%", 100 * row.bound_s / row.median_s);
  return line + '\n';
}

std::string time_text(double seconds)
{
  return seconds < 1e-3 ? fmt::format("{:.0f} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.3g} ms", 1e3 * seconds)
                        : fmt::format("{:.2f} s", seconds);
}

std::string ratio_text(const comm::PairedRatio& ratio)
{
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.median, ratio.least, ratio.most);
}

std::string row_text(const DynamicRow& row)
{
  return fmt::format("dynamic at {}: {}, {} as fast as mpi ({}), {} as fast as {} ({}), {} rounds\n", size_text(row.bytes),
                     time_text(row.median_s), ratio_text(row.against_mpi), time_text(row.mpi_s), ratio_text(row.against_best),
                     row.best, time_text(row.best_s), row.repeats);
}

nlohmann::ordered_json json_of(const comm::PairedRatio& ratio)
{
  return {{"median", ratio.median}, {"low", ratio.least}, {"high", ratio.most}};
}

nlohmann::ordered_json json_of(const DynamicRow& row)
{
  return {{"bytes", row.bytes},
          {"repeats", row.repeats},
          {"us_median", 1e6 * row.median_s},
          {"us_mpi", 1e6 * row.mpi_s},
          {"best", row.best},
          {"us_best", 1e6 * row.best_s},
          {"against_mpi", json_of(row.against_mpi)},
          {"against_best", json_of(row.against_best)}};
}

nlohmann::ordered_json json_of(const CommRow& row)
{
  nlohmann::ordered_json object{
      {"algorithm", row.algorithm},      {"bytes", row.bytes},        {"repeats", row.repeats},     {"calls", row.calls},
      {"us_median", 1e6 * row.median_s}, {"us_low", 1e6 * row.low_s}, {"us_high", 1e6 * row.high_s}};
  if (row.against_mpi > 0) object["against_mpi"] = row.against_mpi;
  if (row.bound_s > 0) {
    object["us_bound"] = 1e6 * row.bound_s;
    object["share_of_bound"] = row.bound_s / row.median_s;
  }
  if (row.messages > 0) {
    object["sent_bytes"] = row.sent_bytes;
    object["messages"] = row.messages;
  }
  return object;
}

} // namespace

std::string text_of(const CommReport& report)
{
  auto text =
      fmt::format("{} ranks on {} nodes in {} supernodes; times of one call, slowest rank's, median and quartiles; GB/s is "
                  "2 n (P-1)/P over the median\n",
                  report.ranks, report.nodes, report.supernodes);
  if (!report.warning.empty()) text += "warning: " + report.warning + '\n';
  text +=
      fmt::format("{:>9}  {:<24} {:>12} {:>12} {:>12} {:>7} {:>9} {:>8} {:>8}\n", "size", "algorithm", "us median", "us lower",
                  "us upper", "repeats", "GB/s", "mpi/own", report.rows.empty() || report.rows[0].bound_s == 0 ? "" : "of bound");
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    if (i > 0 && report.rows[i].bytes != report.rows[i - 1].bytes) text += '\n';
    text += row_text(report.rows[i], report.ranks);
  }
  for (const auto& row : report.dynamic_rows) text += row_text(row);
  if (report.dynamic_start_s > 0) text += fmt::format("dynamic took {} to choose\n", time_text(report.dynamic_start_s));
  for (const auto& [algorithm, choice] : report.choices) text += fmt::format("{}: {}\n", algorithm, choice);
  if (report.network)
    text += fmt::format("{}\nfor a machine profile (dtctl predict --profile):\n{}", in_words(*report.network),
                        network_block(*report.network));
  return text;
}

std::string json_of(const CommReport& report, const CommBench& options)
{
  nlohmann::ordered_json object{{"ranks", report.ranks}, {"nodes", report.nodes}, {"supernodes", report.supernodes}};
  if (!report.warning.empty()) object["warning"] = report.warning;
  if (options.link_gbit > 0) object["link_gbit"] = options.link_gbit;
  if (options.trunk_gbit > 0) object["trunk_gbit"] = options.trunk_gbit;
  object["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : report.rows) object["rows"].push_back(json_of(row));
  if (report.network)
    object["network"] = {{"latency_s", report.network->alpha_s},
                         {"bandwidth_bytes_per_s", report.network->link_bytes_per_s()},
                         {"reduce_s_per_byte", report.network->gamma_s},
                         {"spread", report.network->spread},
                         {"profile", network_block(*report.network)}};
  for (const auto& row : report.dynamic_rows) object["dynamic"].push_back(json_of(row));
  if (report.dynamic_start_s > 0) object["dynamic_start_s"] = report.dynamic_start_s;
  for (const auto& [algorithm, choice] : report.choices) object["choices"][algorithm] = choice;
  return object.dump(2) + '\n';
}

} // namespace dt::bench
