// Tokens of jobs that a cluster's scheduler runs in batches: one job of the scheduler for one run, for an array of equal runs, or
// for a ladder, whose runs follow each other in one allocation.
//
//   token = kind batch "." index      kind: "j" a job of its own, "a" a task of an array, "l" a run of a ladder; batch: 16 hex
//   digits
//
// The index is the run's line in the batch's `tasks` (jobs/scheduler/batch.hpp); for an array it is also the task's index. Tokens
// of schedulers without batches have another form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dt {

enum class BatchKind : char { single = 'j', array = 'a', ladder = 'l' };

inline constexpr std::size_t batch_digits = 16;

struct BatchToken {
  BatchKind kind = BatchKind::single;
  std::string batch;
  std::uint32_t index = 0;
};

std::string format_token(const BatchToken& token);
// Returns nothing if the text is not such a token.
std::optional<BatchToken> parse_token(std::string_view text);
// Whether a token, of any scheduler, is that of a run of a ladder, whose job continues with the ladder's other runs.
bool is_of_ladder(std::string_view token);

} // namespace dt
