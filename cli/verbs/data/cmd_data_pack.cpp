// dtctl data pack: packs labelled images into one file by calling dtengine.
#include "cli/command/destination.hpp"
#include "cli/data/data_sets.hpp"
#include "cli/data/engine_call.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/data/packed_description.hpp"
#include "core/files/file.hpp"
#include "core/files/temporary_file.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct PackOptions {
  std::string source, output;
  // Options that dtengine has too, with the same names and meanings; empty: not given.
  std::string format, encoding, size, channels, background, range, test_fraction, seed, order, corrupt, images, labels, layout,
      test_folder, threads;
  bool allow_empty_classes = false, restart = false, force = false;
};

std::vector<std::string> words_for(const PackOptions& options, const std::filesystem::path& output)
{
  std::vector<std::string> words{"pack", std::filesystem::absolute(options.source).string(), "--progress", "--out",
                                 output.string()};
  for (const auto& [name, value] :
       {std::pair("--format", options.format), std::pair("--encoding", options.encoding), std::pair("--size", options.size),
        std::pair("--channels", options.channels), std::pair("--background", options.background),
        std::pair("--range", options.range), std::pair("--test-fraction", options.test_fraction),
        std::pair("--seed", options.seed), std::pair("--order", options.order), std::pair("--corrupt", options.corrupt),
        std::pair("--images", options.images), std::pair("--labels", options.labels), std::pair("--layout", options.layout),
        std::pair("--test-folder", options.test_folder), std::pair("--threads", options.threads)})
    if (!value.empty()) words.insert(words.end(), {name, value});
  if (options.allow_empty_classes) words.emplace_back("--allow-empty-classes");
  if (options.restart) words.emplace_back("--restart");
  if (options.force) words.emplace_back("--force");
  return words;
}

std::filesystem::path output_of(const Home& home, const std::string& word)
{
  if (is_standard_output(word))
    throw Error(ErrorKind::usage,
                "-o -: a set is written in several passes, so it cannot go to standard output; give a name, or a "
                "path that ends in .pack");
  const bool is_name = word.find('/') == word.npos;
  if (is_name && word.ends_with(packed_extension))
    throw Error(ErrorKind::usage,
                fmt::format("-o {0}: a set in the home has a name without the ending .pack; for a file in this folder, "
                            "write ./{0}",
                            word));
  if (!is_name && !word.ends_with(packed_extension))
    throw Error(ErrorKind::usage, fmt::format("-o {0}: the file's name must end in .pack: {0}.pack", word));
  return packed_path(home, word);
}

ExitCode pack(Context& context, const PackOptions& options)
{
  const auto output = output_of(context.home(), options.output);
  make_folders(folder_of(output), options.output.find('/') == std::string::npos ? Readers::owner : Readers::everybody);
  const auto result = ask_engine(context, words_for(options, output), "packing the data set");
  for (const auto& remark : result.at("remarks")) context.messages.warn("{}", remark.get<std::string>());
  const auto resumed = result.at("resumed").get<std::int64_t>();
  if (resumed > 0) context.messages.info("{} images had been packed by an interrupted call", resumed);
  const bool was_there = result.at("was_there");
  context.out.field("was_there", "data set",
                    {was_there, was_there ? "is there already; nothing was written" : "packed", Style::good});
  context.out.data("resumed", resumed);
  context.out.data("remarks", result.at("remarks"));
  print_packed(context, {output, result.at("id"), result.at("bytes"), parse_packed_description(result.at("set").dump())});
  return ExitCode::ok;
}

void add_source_options(Verb& verb, const std::shared_ptr<PackOptions>& options)
{
  verb.add_option("SOURCE", options->source, "folder or file with labelled images")->required()->type_name("FILE");
  verb.add_option("--format", options->format, "format of SOURCE; it is recognised when this is left out")
      ->type_name("folder|tar|hdf5|npz|idx|cifar10|cifar100")
      ->one_of({"folder", "tar", "hdf5", "npz", "idx", "cifar10", "cifar100"});
  verb.add_option("--images", options->images, "hdf5, npz: array of the images; tar: their extension, such as left.png")
      ->type_name("NAME");
  verb.add_option("--labels", options->labels, "hdf5, npz: array of the labels; tar: their extension (cls)")->type_name("NAME");
  verb.add_option("--layout", options->layout, "hdf5, npz: where the channels of (N, …, …, …) are")
      ->type_name("nhwc|nchw")
      ->one_of({"nhwc", "nchw"});
  verb.add_option("--test-folder", options->test_folder, "folder: the sub-folder that is the test set")->type_name("NAME");
}

void add_content_options(Verb& verb, const std::shared_ptr<PackOptions>& options)
{
  verb.add_option("--encoding", options->encoding, "store pixels, or JPEG files as they are (if all are JPEG and without --size)")
      ->type_name("pixels|jpeg")
      ->one_of({"pixels", "jpeg"});
  verb.add_option("--size", options->size, "crop each image in its centre and resize it: 224, or 240x320 (HxW)")
      ->type_name("N|HxW");
  verb.add_option("--channels", options->channels, "make all images colour images (3) or grey (1)")
      ->type_name("1|3")
      ->one_of({"1", "3"});
  verb.add_option("--background", options->background,
                  "colour behind transparent pixels of PNG and WebP: a name or #rrggbb (white)")
      ->type_name("white|black|grey|#rrggbb");
  verb.add_option("--range", options->range, "PNG of 16 bits: the values of black and white (0..65535)")->type_name("LOW..HIGH");
  verb.add_option("--test-fraction", options->test_fraction,
                  "share of each class that becomes the test set, if there is none (0.1)")
      ->type_name("FRACTION");
  verb.add_option("--seed", options->seed, "seed of the test set and of the order (1)")->type_name("N");
  verb.add_option("--order", options->order, "order of the images in the file: shuffled, or that of the source (shuffled)")
      ->type_name("shuffled|source")
      ->one_of({"shuffled", "source"});
  verb.add_option("--corrupt", options->corrupt, "with images that cannot be decoded: refuse the set, or skip them (refuse)")
      ->type_name("refuse|skip")
      ->one_of({"refuse", "skip"});
  verb.add_flag("--allow-empty-classes", options->allow_empty_classes, "accept classes without images");
}

} // namespace

void add_data_pack(Commands& commands, Verb& family)
{
  auto options = std::make_shared<PackOptions>();
  auto& verb = commands.add_under(
      family,
      {"pack", family_verbs, "Pack labelled images into one file that training reads fast.",
       "SOURCE: sub-folders of images for each class, .tar files (WebDataset), arrays in HDF5 or NumPy files, or the\n"
       "files of MNIST or CIFAR (docs/guide/your-own-data.md). The same call continues one that was interrupted.\n"
       "\n"
       "Examples:\n"
       "  dtctl data pack photos -o flowers --size 64\n"
       "  dtctl data pack train.h5 -o ./cells.pack --images scans --labels kinds --layout nchw"},
      [options](Context& context) { return pack(context, *options); });
  add_source_options(verb, options);
  verb.add_option("-o,--output", options->output, "name of the set in the home, or a path that ends in .pack")
      ->required()
      ->type_name("NAME|FILE");
  add_content_options(verb, options);
  verb.add_option("--threads", options->threads, "threads that decode (one per core)")->type_name("N")->check(positive_number());
  verb.add_flag("--restart", options->restart, "discard what an interrupted call has left, and begin anew");
  verb.add_flag("--force", options->force, "replace a finished set of this name");
}

} // namespace dt::cli
