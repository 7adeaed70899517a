// dtctl compare: which of two studies, or of the candidates within one, is better, how sure that is, and what would decide.
#include "cli/comparison/comparison.hpp"
#include "cli/comparison/formats.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/metric.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string format_words()
{
  std::string words;
  for (const auto& format : comparison_formats()) words += (words.empty() ? "" : ", ") + std::string(format.name);
  return words;
}

} // namespace

void add_compare(Commands& commands)
{
  auto options = std::make_shared<CompareOptions>();
  auto& verb = commands.add(
      {"compare", understand_verbs, "Compare two studies, or the candidates within one: which is better, and how sure.",
       "Verdicts, from the 95 % interval of the effect of A against B:\n"
       "  better, worse   it does not contain \"no effect\"; of throughput and times: faster, slower\n"
       "  equivalent      it lies inside the margin\n"
       "  cannot tell     neither: how many more runs would decide, and their node-hours\n"
       "With --reference or --baseline and worse beyond the margin: exit 5.\n"
       "Points are matched by label and size. With A alone or --by, the labels or values within A compete (Holm); of several "
       "points: Bonferroni.\n"
       "Studies measured apart differ by more than their runs; --against-now runs both again, in one study.\n"
       "\n"
       "Examples:\n"
       "  dtctl compare new-study old-study\n"
       "  dtctl compare last --baseline main --against-now --format github --format markdown=comment.md"},
      [options](Context& context) {
        ResultsStore results(context);
        return compare(context, results, *options);
      });
  const std::string selectors = ": last, the name or id of a study, a point (STUDY/LABEL), the key or name of a run, or all";
  verb.add_option("A", options->a, "what is compared" + selectors + "; default: last")->type_name("A");
  auto* b = verb.add_option("B", options->b, "what it is compared with; without it, candidates within A compete")->type_name("B");
  verb.add_option("--where-a", options->where_a, "only runs of A that meet all conditions, such as 'strategy=sync-sgd nodes=2'")
      ->type_name("CONDITION");
  verb.add_option("--where-b", options->where_b, "only runs of B that meet all conditions; without B: of A")
      ->type_name("CONDITION");
  verb.add_option("--by", options->by, "compare the values of this key, such as sync.strategy")->type_name("KEY");
  verb.add_option("--metric", options->metric,
                  join(store::metric_names(), ", ") + "; default: that of study.tune, else throughput")
      ->type_name("METRIC");
  verb.add_option("--margin", options->margin, "the largest difference that does not matter (2%); of accuracies: points")
      ->type_name("SHARE");
  auto* baseline = verb.add_option("--baseline", options->baseline,
                                   "the same against a study that is pinned: dtctl note STUDY --baseline NAME")
                       ->type_name("BASELINE")
                       ->excludes(b);
  verb.add_option("--reference", options->reference,
                  "check A for a regression against this study, or against a file FILE.json of: dtctl export "
                  "--format json")
      ->type_name("STUDY|FILE.json")
      ->excludes(b)
      ->excludes(baseline);
  verb.add_option("--threshold", options->threshold, "with a reference: your own rule: exit 5 also if A is worse by this (20%)")
      ->type_name("SHARE");
  verb.add_flag("--against-now", options->against_now,
                "run A and B again, interleaved in one study, wait, and compare those runs");
  verb.add_list("--format", options->formats,
                "with a reference: print " + format_words() + " in place of the table, or write it: FORMAT=FILE; can be repeated")
      ->type_name("FORMAT[=FILE]");
}

} // namespace dt::cli
