// dtctl help: the page of dtctl, or of one verb.
#include "cli/help/help.hpp"
#include "cli/verbs/verbs.hpp"

#include <memory>

namespace dt::cli {

void add_help(Commands& commands)
{
  auto words = std::make_shared<std::vector<std::string>>();
  auto& verb = commands.add({"help", keep_verbs, "Print all verbs by task, or the options and examples of one verb.",
                             "Example:\n  dtctl help sweep\n  dtctl help data pack"},
                            [words, &root = commands.root()](Context& context) {
                              context.out.block("help", help_page(root, *words));
                              return ExitCode::ok;
                            });
  verb.add_option("VERB", *words, "a verb, or two words such as data pack")->type_name("VERB");
}

} // namespace dt::cli
