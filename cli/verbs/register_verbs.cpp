#include "cli/help/help.hpp"
#include "cli/verbs/verbs.hpp"

namespace dt::cli {

void register_verbs(Commands& commands)
{
  add_help_pages(commands.root());
  for (const auto add : {add_new, add_validate, add_plan, add_submit, add_sweep, add_recipe, add_models, add_strategies})
    add(commands);
  for (const auto add : {add_status, add_watch, add_wait, add_logs, add_explain, add_cancel, add_retry}) add(commands);
  for (const auto add : {add_results, add_compare, add_predict, add_report, add_plot, add_serve, add_show, add_list, add_trace,
                         add_query, add_export, add_export_weights, add_remove})
    add(commands);
  for (const auto add : {add_data, add_doctor, add_config, add_db, add_completion}) add(commands);
  for (const auto add : {add_supervise, add_complete, add_man}) add(commands);
}

} // namespace dt::cli
