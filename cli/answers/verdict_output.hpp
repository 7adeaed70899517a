// The verdict on a study: what it says, in a headline and a few lines.
#pragma once

#include "cli/answers/verdict/verdict_text.hpp"
#include "cli/command/context.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class VerdictKind {
  none,       // there is nothing to say, as of a single run
  candidates, // several labels at a common size, and which is the best
  scaling     // one label at several sizes, and how efficiency falls
};
std::string_view name_of(VerdictKind kind);

struct StudyVerdict {
  VerdictKind kind = VerdictKind::none;
  VerdictText text;                       // empty if there is nothing to say
  std::vector<store::Standing> standings; // of candidates: by throughput, and by time to target if all have the same
};

// `kind`: that of the study (StudyRow::kind); empty if the runs are none. `compared` and `points` are its points, as a comparison
// and as scaling see them. `facts` bear on all of it (deciding_facts); those about the conditions
// of the runs (condition_texts) are added. `tuned_by`: the metric by which the candidates were tuned (StudyTune::metric) decides
// alone; empty: they were not.
StudyVerdict verdict_of(std::string_view kind, const std::vector<store::ComparedPoint>& compared,
                        const std::vector<store::ScalingRow>& points, std::vector<std::string> facts,
                        std::string_view tuned_by = {});

// Prints the headline, a line for each other candidate or size, and a line for each remark.
void print_verdict_text(Context& context, const VerdictText& text);

// Prints the text, and for programs the object `verdict`, whose `sentences` are the same lines.
void print_verdict(Context& context, const StudyVerdict& verdict);

} // namespace dt::cli
