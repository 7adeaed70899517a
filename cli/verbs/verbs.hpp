// One function per verb; each adds its verb to the commands (cli/verbs/cmd_<verb>.cpp).
#pragma once

#include "cli/command/commands.hpp"
#include "cli/command/validators.hpp"

namespace dt::cli {

// Registers all verbs, and the pages of help.
void register_verbs(Commands& commands);

// Write
void add_new(Commands& commands);
void add_validate(Commands& commands);
void add_recipe(Commands& commands);
void add_recipe_models(Commands& commands, Verb& family);
void add_recipe_strategies(Commands& commands, Verb& family);
void add_data(Commands& commands);

// Run
void add_sweep(Commands& commands);
void add_retry(Commands& commands);
void add_cancel(Commands& commands);

// Follow
void add_status(Commands& commands);
void add_logs(Commands& commands);

// Understand
void add_results(Commands& commands);
void add_compare(Commands& commands);
void add_trend(Commands& commands);
void add_explain(Commands& commands);
void add_predict(Commands& commands);
void add_simulate(Commands& commands);
void add_query(Commands& commands);

// Show
void add_show(Commands& commands);
void add_report(Commands& commands);
void add_plot(Commands& commands);
void add_serve(Commands& commands);
void add_export(Commands& commands);

// Keep
void add_note(Commands& commands);
void add_remove(Commands& commands);
void add_db(Commands& commands);
void add_config(Commands& commands);
void add_doctor(Commands& commands);
void add_completion(Commands& commands);
void add_help(Commands& commands);

// Hidden verbs, called by dtctl itself, by shells and by the build.
void add_supervise(Commands& commands);
void add_complete(Commands& commands);
void add_man(Commands& commands);

} // namespace dt::cli
