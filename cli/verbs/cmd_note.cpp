// dtctl note: notes and tags of studies and runs, and baselines: names for studies that later ones are compared with.
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/record/baselines.hpp"
#include "core/record/notes.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct NoteOptions {
  Selector selector;
  std::vector<std::string> words, tags, untags;
  bool clear = false;
  std::string baseline, forgotten; // names of baselines
  bool baselines = false;
  bool changes() const { return clear || !words.empty() || !tags.empty() || !untags.empty(); }
};

// A study or a run, which has the note.
struct Subject {
  std::string id, name, kind;
};

std::vector<Subject> subjects_of(const Selection& selection)
{
  if (selection.whole_study) return {{selection.study->id, selection.study->name, "study"}};
  std::vector<Subject> subjects;
  for (const auto& run : selection.runs) subjects.push_back({run.row.key, run.row.name, "run"});
  return subjects;
}

void add_tags(Note& note, const std::vector<std::string>& tags)
{
  note.tags.insert(note.tags.end(), tags.begin(), tags.end());
  std::ranges::sort(note.tags);
  note.tags.erase(std::unique(note.tags.begin(), note.tags.end()), note.tags.end());
}

void change_note(Note& note, const NoteOptions& options)
{
  add_tags(note, options.tags);
  std::erase_if(note.tags, [&](const auto& tag) { return std::ranges::find(options.untags, tag) != options.untags.end(); });
  if (options.clear) note.text.clear();
  if (!options.words.empty()) note.text = without_secrets(std::string_view(join(options.words, " ")));
  note.changed_unix_s = now_unix_s();
}

void check_note(const NoteOptions& options)
{
  for (const auto* names : {&options.tags, &options.untags})
    for (const auto& name : *names) require_short_name("tag", name);
  for (const auto& tag : options.tags)
    if (std::ranges::find(options.untags, tag) != options.untags.end())
      throw Error(ErrorKind::usage, "the tag " + tag + " is given with --tag and with --untag");
  constexpr std::size_t longest = 10'000;
  if (const auto text = join(options.words, " "); text.size() > longest || !is_valid_utf8(text))
    throw Error(ErrorKind::usage, fmt::format("a note is a text in UTF-8 of at most {} bytes", longest));
}

Table note_table(const std::vector<Subject>& subjects, const Notes& notes)
{
  Table table{"notes", {{"kind", "of"}, {"id", "id"}, {"name", "name"}, {"tags", "tags"}, {"note", "note"}}, {}, "no runs"};
  for (const auto& subject : subjects) {
    const auto found = notes.find(subject.id);
    const auto note = found == notes.end() ? Note() : found->second;
    table.rows.push_back({text_cell(subject.kind),
                          key_cell(subject.id),
                          text_cell(subject.name),
                          {Json(note.tags), join(note.tags, " "), Style::plain},
                          text_cell(note.text)});
  }
  return table;
}

ExitCode put_note(Context& context, const NoteOptions& options)
{
  check_note(options);
  if (!options.changes()) {
    ResultsStore results(context);
    context.out.table(note_table(subjects_of(select(results, options.selector)), read_notes(results.home())));
    return ExitCode::ok;
  }
  const auto home = context.locked_home();
  ResultsStore results(context, home);
  const auto subjects = subjects_of(select(results, options.selector));
  auto notes = read_notes(home);
  for (const auto& subject : subjects) change_note(notes[subject.id], options);
  write_notes(home, notes);
  results.take_in_notes();
  context.out.table(note_table(subjects, notes));
  return ExitCode::ok;
}

void print_baselines(Context& context, const Baselines& baselines)
{
  Table table{"baselines",
              {{"name", "baseline"}, {"study", "id"}, {"study_name", "study"}, {"set_unix_s", "set"}},
              {},
              "no study is pinned; pin one with: dtctl note STUDY --baseline NAME"};
  for (const auto& [name, baseline] : baselines)
    table.rows.push_back({text_cell(name, Style::strong), key_cell(baseline.study), text_cell(baseline.study_name),
                          time_cell(baseline.set_unix_s)});
  context.out.table(table);
}

ExitCode set_baseline(Context& context, const NoteOptions& options)
{
  require_short_name("baseline", options.baseline);
  const auto home = context.locked_home();
  ResultsStore results(context, home);
  const auto selection = select(results, options.selector);
  if (!selection.whole_study)
    throw Error(ErrorKind::usage,
                printable(options.selector.what) + " is not a study; a baseline is a whole study: its name or id, or last");
  const auto& study = *selection.study;
  if (study.succeeded == 0)
    throw Error(ErrorKind::usage, "no run of " + printable(study.name) +
                                      " has succeeded, so nothing could be compared with it; see: "
                                      "dtctl status " +
                                      short_key(study.id));
  auto baselines = read_baselines(home);
  if (const auto old = baselines.find(options.baseline); old != baselines.end() && old->second.study != study.id)
    context.messages.info("{} was {} ({})", options.baseline, printable(old->second.study_name), short_key(old->second.study));
  baselines[options.baseline] = {study.id, study.name, now_unix_s()};
  write_baselines(home, baselines);
  print_baselines(context, {{options.baseline, baselines[options.baseline]}});
  return ExitCode::ok;
}

ExitCode forget_baseline(Context& context, const NoteOptions& options)
{
  const auto home = context.locked_home();
  auto baselines = read_baselines(home);
  baseline_named(baselines, options.forgotten);
  baselines.erase(options.forgotten);
  write_baselines(home, baselines);
  print_baselines(context, baselines);
  return ExitCode::ok;
}

ExitCode note(Context& context, const NoteOptions& options)
{
  if (options.baselines) {
    print_baselines(context, read_baselines(context.home()));
    return ExitCode::ok;
  }
  if (!options.forgotten.empty()) return forget_baseline(context, options);
  if (options.selector.what.empty())
    throw Error(ErrorKind::usage, "name a study or runs, as in: dtctl note last 'a text'; see: dtctl note --help");
  return options.baseline.empty() ? put_note(context, options) : set_baseline(context, options);
}

} // namespace

void add_note(Commands& commands)
{
  auto options = std::make_shared<NoteOptions>();
  options->selector.what.clear();
  auto& verb = commands.add(
      {"note", keep_verbs, "Write a note on a study or on runs, tag them, or pin a study as a baseline.",
       "A selector that names a study is about the study, any other one about the runs that it selects. The text replaces\n"
       "the note that was there. Without a text and options: prints what is there. Notes and tags lie in notes.json in the\n"
       "home; show, status, results, serve and export have them, and --where 'tag=NAME' selects the runs with a tag, and\n"
       "those of the studies with it.\n\n"
       "A baseline is a name for one study, such as main or v1.2: dtctl compare --baseline NAME compares with it, and dtctl\n"
       "remove refuses to remove its study. The names lie in baselines.json in the home.\n\n"
       "Examples:\n"
       "  dtctl note last --tag paper 'Figure 3, with the new switch'\n"
       "  dtctl note 3f2a --untag outlier\n"
       "  dtctl results all --where 'tag=paper ranks>=2'\n"
       "  dtctl note nightly --baseline main && dtctl compare last --baseline main"},
      [options](Context& context) { return note(context, *options); });
  auto* what = add_selector(verb, options->selector);
  auto* text = verb.add_option("TEXT", options->words, "the note; several words are joined by blanks")->type_name("TEXT");
  auto* tag =
      verb.add_list("--tag", options->tags, "add this tag: letters, digits, -, _, . and /; can be repeated")->type_name("TAG");
  auto* untag = verb.add_list("--untag", options->untags, "remove this tag; can be repeated")->type_name("TAG");
  auto* clear = verb.add_flag("--clear", options->clear, "remove the text of the note")->excludes(text);
  auto* pin = verb.add_option("--baseline", options->baseline, "pin the study under this name; a name that is in use moves to it")
                  ->type_name("BASELINE");
  auto* list = verb.add_flag("--baselines", options->baselines, "print the baselines");
  auto* forget =
      verb.add_option("--forget-baseline", options->forgotten, "forget a baseline; its study stays")->type_name("BASELINE");
  for (auto* of_baselines : {pin, list, forget})
    for (auto* other : {text, tag, untag, clear, pin, list, forget})
      if (other != of_baselines) of_baselines->excludes(other);
  for (auto* without_study : {list, forget}) without_study->excludes(what);
}

} // namespace dt::cli
