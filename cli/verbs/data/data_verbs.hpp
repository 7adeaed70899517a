// The verbs of `dtctl data`, one file each (cmd_data_<verb>.cpp), and what they print alike.
#pragma once

#include "cli/command/commands.hpp"
#include "cli/command/validators.hpp"
#include "core/data/packed_file.hpp"

namespace dt::cli {

void add_data_make(Commands& commands, Verb& family);
void add_data_pack(Commands& commands, Verb& family);
void add_data_check(Commands& commands, Verb& family);
void add_data_show(Commands& commands, Verb& family);
void add_data_list(Commands& commands, Verb& family);
void add_data_import(Commands& commands, Verb& family);
void add_data_remove(Commands& commands, Verb& family);

// The facts of a packed set that the verbs print. They were read once, so the file may be removed or replaced meanwhile.
struct PackedFacts {
  std::filesystem::path file;
  std::string id;
  std::uint64_t bytes;
  PackedDescription description;
};

PackedFacts facts_of(const PackedFile& file);

// Prints them as fields.
void print_packed(Context& context, const PackedFacts& facts);

} // namespace dt::cli
