// dtctl compare: which of two studies, or of the candidates within one, is better, how sure that is, and what would decide.
#include "cli/comparison/comparison.hpp"
#include "cli/verbs/verbs.hpp"

#include <memory>

namespace dt::cli {

void add_compare(Commands& commands)
{
  auto options = std::make_shared<CompareOptions>();
  auto& verb = commands.add(
      {"compare", result_verbs,
       "Compare two studies, or the candidates within one: which is faster, how sure, what would decide.",
       "Prints the effect of A against B, its 95% confidence interval, and one of four verdicts: faster, slower, equivalent\n"
       "(the whole interval lies inside the margin) or cannot tell. If it cannot tell, it says how many more runs would\n"
       "decide, and their node-hours (nodes times the time of the steps). With fewer than 3 runs there is no interval, but\n"
       "the smallest difference that could be resolved. Points of A and B are matched by label and size.\n"
       "With A alone, or with --by, the labels or the values of a key within A compete at each size; the p values are\n"
       "corrected for all pairs (Holm), and every candidate that may be the best is named.\n"
       "A run that missed its target counts as infinitely late in time-to-target; a rank test then decides.\n"
       "Runs of a ladder are compared in pairs within their repeat.\n"
       "Studies that were measured apart differ by more than the scatter of their runs: the first lines say what separates\n"
       "them, and the interval holds the scatter between studies of the same work, if this home has three of them that reach\n"
       "as far apart. If not, the verdict is at most \"different in these runs\". --against-now runs A and B again, interleaved\n"
       "in one study, waits, and compares those runs.\n"
       "With --reference the exit code is 5 if A is a regression: the whole interval lies beyond the margin, or, of times\n"
       "to target with misses, the verdict is slower. It is 1 if a point of A has no succeeded run.\n\n"
       "Examples:\n  dtctl compare new-study old-study\n  dtctl compare last --by sync.strategy --metric time-to-target\n"
       "  dtctl compare last --reference good-study --against-now --margin 5% --junit results.xml"},
      [options](Context& context) {
        ResultsStore results(context);
        return compare(context, results, *options);
      });
  const std::string selectors = ": last, the name or id of a study, a point (STUDY/LABEL), the key or name of a run, or all";
  verb.add_option("A", options->a, "what is compared" + selectors + "; default: last")->type_name("A");
  auto* b = verb.add_option("B", options->b, "what it is compared with; without it, candidates within A compete")->type_name("B");
  verb.add_option("--where-a", options->where_a, "only runs of A that meet the condition, such as 'strategy=sync-sgd'")
      ->type_name("CONDITION");
  verb.add_option("--where-b", options->where_b, "only runs of B that meet the condition; without B: of A")
      ->type_name("CONDITION");
  verb.add_option("--by", options->by, "compare the values of this key, such as sync.strategy")->type_name("KEY");
  verb.add_option("--metric", options->metric, "throughput (default), time-to-target, step-time or accuracy")
      ->type_name("METRIC");
  verb.add_option("--margin", options->margin,
                  "the largest difference that does not matter; default: 2%. Of accuracies: percentage points")
      ->type_name("SHARE");
  auto* reference = verb.add_option("--reference", options->reference,
                                    "check A for a regression against this study, or against a file FILE.json of: dtctl export "
                                    "--format json")
                        ->type_name("STUDY|FILE.json")
                        ->excludes(b);
  verb.add_flag("--against-now", options->against_now,
                "run the succeeded runs of A and B again, interleaved in one study, wait for them, and compare those runs");
  verb.add_option("--junit", options->junit, "write the comparisons with the reference to this file as JUnit XML")
      ->type_name("FILE")
      ->needs(reference);
}

} // namespace dt::cli
