#include "cli/help/help.hpp"
#include "cli/verbs/verbs.hpp"

namespace dt::cli {

void register_verbs(Commands& commands)
{
  add_help_pages(commands.root());
  for (const auto add : {add_new, add_validate, add_recipe, add_data}) add(commands);
  for (const auto add : {add_sweep, add_retry, add_cancel}) add(commands);
  for (const auto add : {add_status, add_logs}) add(commands);
  for (const auto add : {add_results, add_compare, add_trend, add_explain, add_predict, add_simulate, add_query}) add(commands);
  for (const auto add : {add_show, add_report, add_plot, add_serve, add_export}) add(commands);
  for (const auto add : {add_note, add_remove, add_db, add_config, add_doctor, add_completion, add_help}) add(commands);
  for (const auto add : {add_supervise, add_complete, add_man}) add(commands);
}

} // namespace dt::cli
