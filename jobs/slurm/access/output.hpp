// Reads what Slurm's commands print: tables with a separator of our own, and records of "Key=value". Pure functions. What cannot
// be read is a SlurmFailure that names the command and shows its words, never an empty answer.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dt::jobs::slurm {

// Follows every field of a table: the unit separator, which no name that people type contains.
inline constexpr char field_end = '\x1f';

// The failure "squeue printed what dtctl cannot read, WHY: TEXT". Its code is that of an unexpected message, after which it is
// unknown what Slurm did.
SlurmFailure unreadable(std::string_view command, std::string_view why, std::string_view text);

// A column of a table: what dtctl reads there, and the name by which the command is asked for it.
struct Column {
  std::string_view fact, name;
};

// A record of a table. What the command prints for no value is an empty text.
class Row {
 public:
  // `columns` must outlive the row.
  Row(std::span<const Column> columns, std::vector<std::string> fields) : columns_(columns), fields_(std::move(fields)) {}
  // Empty also if the table has no such column.
  const std::string& operator[](std::string_view fact) const;

 private:
  std::span<const Column> columns_;
  std::vector<std::string> fields_;
};

// The records of a table. Each record, the first of which is a header, is a field for each column, followed by field_end, and a
// line feed behind the last one; fields may contain line feeds. Checks that the header is there and begins with the first name.
std::vector<Row> read_table(std::string_view command, std::string_view text, std::span<const Column> columns);

// The fields of one line of `scontrol --oneliner`. A value ends before the next " Word=", so it may contain blanks. "(null)" and
// "N/A" become empty.
std::map<std::string, std::string> read_record(std::string_view line);

// The settings of slurm.conf, or of `scontrol show config`: lines "Key = value", with keys in lower case. Of several lines with
// one key, the values are joined by line feeds.
std::map<std::string, std::string> read_settings(std::string_view text);

// The number with which the text must begin, as in "300 sec". `what` is shown if it does not.
std::int64_t read_number(std::string_view command, std::string_view what, std::string_view text);

// A moment in seconds since 1970, as SLURM_TIME_FORMAT=%s makes Slurm write it; 0 for N/A, NONE, Unknown, None.
std::int64_t read_moment(std::string_view command, std::string_view text);

} // namespace dt::jobs::slurm
