#include "cli/answers/verdict/limit_text.hpp"

#include "core/units.hpp"

#include <cmath>

namespace dt::cli {
namespace {

using Kind = store::Limit::Kind;

// Why nothing tells how far such studies differ by chance.
std::string why_unknown(const store::Limit& limit)
{
  const std::string unknown = "how far such studies differ by chance is not known";
  const auto so_many = std::to_string(limit.studies), of_the_work = ", because the " + so_many + " studies of the same work ";
  switch (limit.kind) {
  case Kind::few_studies:
    return unknown + " here: it takes three other studies of the same work on the same kind of machine, and there " +
           (limit.studies == 0 ? "is none" : (limit.studies == 1 ? "is " : "are ") + so_many);
  case Kind::near:
    return unknown + of_the_work + "lie within " + format_duration(limit.longest_s);
  case Kind::same_hosts:
    return unknown + of_the_work + "ran on the same hosts";
  default:
    return unknown;
  }
}

} // namespace

std::string apart_text(const store::Separation& separation)
{
  const bool is_by_nodes = separation.by == store::Confounded::by_nodes && separation.apart_s < 1;
  if (is_by_nodes) return separation.other_processors ? "on other processors" : "on other hosts";
  const auto time = std::isnan(separation.apart_s) ? std::string("apart by an unknown time")
                    : separation.apart_s < 1       ? std::string("not interleaved")
                                                   : format_seconds(std::round(separation.apart_s)) + " apart";
  return time + (separation.other_processors ? " on other processors" : separation.other_hosts ? " on other hosts" : "");
}

std::string time_text(const store::Separation& separation)
{
  if (std::isnan(separation.apart_s)) return "it is not known when both were measured";
  const std::string later = separation.a_is_later ? "A" : "B", earlier = separation.a_is_later ? "B" : "A";
  if (separation.apart_s < 1)
    return separation.by == store::Confounded::by_nodes ? "the runs of A and B were measured on different nodes"
                                                        : "the runs of A and B were not interleaved";
  return "the runs of " + later + " began " + format_seconds(std::round(separation.apart_s)) + " after those of " + earlier +
         " had ended";
}

Confounding words_about(store::Confounded by)
{
  switch (by) {
  case store::Confounded::by_time:
    return {"were measured one after the other, so that a change of the machine looks like a difference",
            "measure them in rounds (study.order: random)"};
  case store::Confounded::by_nodes:
    return {"were measured on different nodes, so that a difference of the nodes looks like theirs",
            "measure them on the same ones, as in one allocation (study.layout: ladder)"};
  case store::Confounded::no:
    break;
  }
  return {};
}

std::string limit_text(const store::Limit& limit)
{
  const std::string run_again = "; --against-now runs both again, interleaved, and compares those runs";
  switch (limit.kind) {
  case Kind::none:
    return "";
  case Kind::one_seed:
    return "the repeats trained with one seed, so they do not show how far trainings differ by chance; study.vary_seed: true "
           "gives each repeat another seed";
  case Kind::one_study: {
    const auto [why, remedy] = words_about(limit.separation.by);
    return "A and B " + why + "; " + remedy;
  }
  case Kind::by_ranks:
    return "the studies were measured apart, and a test by ranks cannot allow for that" + run_again;
  default:
    return "the studies are " + apart_text(limit.separation) + ", and " + why_unknown(limit) + run_again;
  }
}

} // namespace dt::cli
