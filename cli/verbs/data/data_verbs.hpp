// The verbs of `dtctl data`, one file each (cmd_data_<verb>.cpp), and what they print alike.
#pragma once

#include "cli/commands.hpp"
#include "core/data/packed_file.hpp"

namespace dt::cli {

void add_data_make(Commands& commands, Verb& family);
void add_data_pack(Commands& commands, Verb& family);
void add_data_check(Commands& commands, Verb& family);
void add_data_show(Commands& commands, Verb& family);
void add_data_list(Commands& commands, Verb& family);
void add_data_import(Commands& commands, Verb& family);
void add_data_remove(Commands& commands, Verb& family);

// Prints the facts of a packed set as fields.
void print_packed(Context& context, const PackedFile& file);

} // namespace dt::cli
