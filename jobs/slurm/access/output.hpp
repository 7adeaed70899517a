// Reads what Slurm's commands print: tables with a separator of our own, and records of "Key=value". Pure functions. What cannot
// be read is a SlurmFailure that names the command and shows its words, never an empty answer.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// Follows every field of a table: the unit separator, which no name that people type contains.
inline constexpr char field_end = '\x1f';

// The failure "squeue printed what dtctl cannot read, WHY: TEXT". Its code is that of an unexpected message, after which it is
// unknown what Slurm did.
SlurmFailure unreadable(std::string_view command, std::string_view why, std::string_view text);

// The records of a table. Each record, the first of which is a header, is `columns` fields, each followed by field_end, and a
// line feed behind the last one; fields may contain line feeds. Checks that the header is there and begins with `first_heading`.
std::vector<std::vector<std::string>> read_table(std::string_view command, std::string_view text, std::size_t columns,
                                                 std::string_view first_heading);

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

// "node[1-2,05],gpu3" -> node1, node2, node05, gpu3.
std::vector<std::string> expand_nodes(std::string_view text);

} // namespace dt::jobs::slurm
