// Every mistake in a source or in the options has one clear sentence.
#include "engine/data/packing/readers/array_source.hpp"
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// A folder, and what packing its sub-folder or file "s" complains about, with FOLDER in the place of the folder's path.
struct Bad {
  TemporaryFolder folder;
  data::PackOptions options = plain_options(folder.path() / "s", folder.path() / "s.pack");
  std::string text()
  {
    auto message = complaint(options);
    for (auto at = message.find(folder.path().string()); at != message.npos; at = message.find(folder.path().string()))
      message.replace(at, folder.path().string().size(), "FOLDER");
    CHECK(fs::exists(folder.path() / "s.pack") == message.empty());
    CHECK_FALSE(fs::exists(folder.path() / "s.pack.partial"));
    CHECK_FALSE(fs::exists(folder.path() / "s.pack.journal"));
    return message;
  }
  fs::path source() const { return options.source.path; }
};

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

} // namespace

TEST_CASE("a source that is missing, of no known kind or of the wrong kind for its format is named with what can be packed")
{
  Bad missing, unknown, device, folder, file;
  CHECK(missing.text() == "FOLDER/s: there is no such file or folder.");
  write(unknown.source(), "nothing");
  CHECK(unknown.text() ==
        "FOLDER/s: this is not a data set that can be packed: a folder with a sub-folder of images for each class, tar "
        "files, HDF5, .npz, or the files of MNIST or CIFAR.");
  device.options.source.path = "/dev/null";
  CHECK(device.text() == "/dev/null: this is neither a folder nor a regular file.");
  write_class_folders(folder.source(), {"a"}, 1);
  folder.options.source.format = "npz";
  CHECK(folder.text() == "FOLDER/s: --format npz needs a file, but this is a folder.");
  write(file.source(), "x");
  file.options.source.format = "folder";
  CHECK(file.text() == "FOLDER/s: --format folder needs a folder, but this is a file.");
}

TEST_CASE("folders without classes, without images or with empty classes, and names that are not UTF-8 are refused")
{
  Bad no_classes, no_images, empty_classes, other_classes, two_tests, one_class, name;
  write(no_classes.source() / "a.png", png(1));
  CHECK(no_classes.text() == "FOLDER/s: there are no class folders. Each class needs a folder of its own with its images.");
  write(no_images.source() / "a" / "a.txt", "x");
  CHECK(no_images.text() == "The source (folder s) has no images. 1 file was left out because of its extension: .txt (1).");
  write_class_folders(empty_classes.source(), {"a", "b"}, 1);
  fs::create_directory(empty_classes.source() / "c");
  CHECK(empty_classes.text() ==
        "1 of the 3 classes has no images: c. Add images or remove the class; --allow-empty-classes accepts it.");
  write_class_folders(other_classes.source() / "train", {"a"}, 1);
  write_class_folders(other_classes.source() / "test", {"a", "b"}, 1);
  CHECK(other_classes.text() == "FOLDER/s/test/b: this class has no folder in train/. Both sets need the same classes.");
  for (const auto* each : {"train", "test", "val"}) write_class_folders(two_tests.source() / each, {"a"}, 1);
  CHECK(two_tests.text() == "FOLDER/s: there are 2 folders that may be the test set: test, val. Choose one with --test-folder.");
  write_class_folders(one_class.source(), {"cat"}, 2);
  one_class.options.least_classes = 2; // a network is to learn from it
  CHECK(one_class.text() ==
        "The source (folder s) has only the class cat; a network needs at least 2. Add images of another class.");
  write_class_folders(name.source(), {"a", "b\xff"}, 1);
  CHECK(name.text() == "FOLDER/s: the name of the class b\\xff is not UTF-8. Rename the class.");
}

TEST_CASE("train/ with class folders beside folders that are no test set is refused")
{
  Bad flat, more;
  write_class_folders(flat.source() / "train", {"cat", "dog"}, 1);
  write(flat.source() / "test" / "1.png", png(1));
  CHECK(
      flat.text() ==
      "FOLDER/s: train/ has class folders, but the folder beside it is no test set with class folders: test/. Remove or move it, "
      "or name the folder of the test set, which needs class folders too, with --test-folder.");
  write_class_folders(more.source() / "train", {"cat", "dog"}, 1);
  write(more.source() / "extra" / "1.png", png(1));
  write_class_folders(more.source() / "unlabeled", {"0"}, 1);
  CHECK_THAT(more.text(), Catch::Contains("extra/, unlabeled/"));
}

TEST_CASE("folders that say splits are never classes")
{
  Bad two, flat, no_train;
  for (const auto* name : {"train", "Training", "test"}) write_class_folders(two.source() / name, {"cat", "dog"}, 1);
  CHECK(two.text() ==
        "FOLDER/s: there are 2 folders that may be the training set: Training, train. Leave one of them in the source.");
  for (const auto* name : {"TRAIN", "TEST"}) write(flat.source() / name / "1.png", png(1));
  CHECK(flat.text() ==
        "FOLDER/s: the folders TEST, TRAIN say a split, but there are no class folders in them. Each class needs a "
        "folder of its own with its images.");
  for (const auto* name : {"val", "test"}) write_class_folders(no_train.source() / name, {"cat", "dog"}, 1);
  CHECK(no_train.text() ==
        "FOLDER/s: the folders test, val hold class folders of the same names, but there is no folder train/ for "
        "the training set.");
}

TEST_CASE("a source of which no image can be decoded is refused with the causes")
{
  const std::string none = "None of the 1 images of the source (folder s) can be decoded:\n  a/0.png: ";
  for (const auto& [content, why] : std::vector<std::pair<std::string, std::string>>{
           {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
            "it is a pointer of Git LFS. `git lfs pull` fetches its content"},
           {"\n<!DOCTYPE html><html>", "it is a page in HTML. Fetch the image again"},
           {"", "the file is empty"},
           {zeros(99), "the file holds zeros only. Fetch it again"},
           {"GIF89a", "it is a GIF, not a JPEG, PNG or WebP image"},
           {std::string("\0\5\x16\7", 4), "it holds what macOS keeps beside a file, and no image. Remove it"},
           {"/annex/objects/SHA256E-s1--0.png\n", "it is a pointer of git-annex. `git annex get` fetches its content"},
           {"no image", "the file is not a JPEG, PNG or WebP image"},
           {png(1).substr(0, 70), "the PNG cannot be decoded: "}}) {
    Bad bad;
    write(bad.source() / "a" / "0.png", content);
    CHECK_THAT(bad.text(), Catch::StartsWith(none + why));
  }
  Bad many;
  for (int i = 0; i < 12; ++i) write(many.source() / "a" / (std::to_string(i) + ".png"), "");
  CHECK_THAT(many.text(), Catch::StartsWith("None of the 12 images") && Catch::EndsWith("\n  and 2 more"));
}

TEST_CASE("what follows the end of a compressed tar file is refused with its size")
{
  Bad bad;
  bad.options.source.format = "tar";
  write(bad.source(), compressed(tar({{"a.png", png(1)}, {"a.cls", "0"}}), 31) + "more of it");
  CHECK(bad.text() == "FOLDER/s: 10 bytes follow the end of the tar file. Fetch or make it again.");
  write(bad.source(), tar({{"a.png", png(1)}, {"a.cls", "0"}}) + std::string(512, 'x'));
  CHECK_THAT(bad.text(), Catch::StartsWith("FOLDER/s: the tar file cannot be read"));
}

TEST_CASE("images of different sizes and kinds are refused with the first one that differs, for any number of threads")
{
  for (const int threads : {1, 4}) {
    Bad sizes, kinds;
    for (int i = 1000; i < 3000; ++i) write(sizes.source() / "a" / (std::to_string(i) + ".png"), png(i));
    // the last image of the second part, and the first ones of the third, which another thread finds earlier
    for (const auto* late : {"2023", "2024", "2025"}) write(sizes.source() / "a" / (std::string(late) + ".png"), png(1, 7, 5));
    sizes.options.threads = threads;
    CHECK(sizes.text() ==
          "a/2023.png has 7 x 5 pixels (height x width), but a/1000.png has 6 x 5. Records of pixels need one size: give one "
          "with --size, for example --size 6x5.");
    write_class_folders(kinds.source(), {"a"}, 3);
    write(kinds.source() / "a" / "1.png", png(1, 6, 5, 1));
    kinds.options.threads = threads;
    CHECK(kinds.text() ==
          "a/1.png is grey, but a/0.png is in colour. A set has images of one kind: --channels 3 makes all of them colour "
          "images, --channels 1 grey ones.");
  }
}

TEST_CASE("options that contradict the source or each other are refused")
{
  Bad not_jpeg, resized_jpeg, given_split, alone;
  write_class_folders(not_jpeg.source(), {"a"}, 1);
  not_jpeg.options.encoding = PackedEncoding::jpeg;
  CHECK(not_jpeg.text() == "--encoding jpeg stores JPEG files as they are, but a/0.png is not one. Use --encoding pixels.");
  write(resized_jpeg.source() / "a" / "1.jpg", data::jpeg_bytes(numbered_image(1)));
  resized_jpeg.options.encoding = PackedEncoding::jpeg;
  resized_jpeg.options.height = resized_jpeg.options.width = 4;
  CHECK(resized_jpeg.text() ==
        "--encoding jpeg stores JPEG files as they are, so --size cannot resize them. Leave out one of the two; "
        "data.image_size in a recipe resizes images while they are read.");
  write_class_folders(given_split.source() / "train", {"a"}, 1);
  write_class_folders(given_split.source() / "test", {"a"}, 1);
  given_split.options.split.test_fraction = 0.5;
  CHECK(given_split.text() == "The source (folder s) has a test set of its own; leave out --test-fraction.");
}

TEST_CASE("tar files with wrong members are refused with the member")
{
  for (const auto& [members, why] : std::vector<std::pair<std::vector<Member>, std::string>>{
           {{{"1.png", png(1)}, {"1.cls", "0"}, {"2.png", png(2)}}, "FOLDER/s: 2.png has no label: there is no member 2.cls."},
           {{{"1.png", png(1)}, {"1.cls", "0"}, {"1.png", png(2)}},
            "FOLDER/s: there are two images with the key 1: 1.png and 1.png. Each key names one image."},
           {{{"1.png", png(1)}, {"1.cls", "0"}, {"1.cls", "1"}}, "FOLDER/s: the member 1.cls is there twice."},
           {{{"1.png", png(1)}, {"1.cls", "0"}, {"1.CLS", "1"}}, "FOLDER/s: there are two labels of one image: 1.cls and 1.CLS."},
           {{{"1.png", png(1)}, {"1.cls", " \n"}}, "FOLDER/s: 1.cls is empty."},
           {{{"1.png", png(1)}, {"1.cls", "-1"}},
            "s/1.png has the label -1; labels are numbers from 0 to the number of classes - 1, below 1000000."},
           {{{"1.png", png(1)}, {"1.cls", "1"}},
            "1 of the 2 classes has no images: 0. Add images or remove the class; --allow-empty-classes accepts it."}}) {
    Bad bad;
    write(bad.source(), tar(members));
    CHECK(bad.text() == why);
  }
  Bad cut;
  const auto whole = gzip(tar({{"1.png", png(1, 60, 50)}, {"1.cls", "0"}}));
  write(cut.source(), whole.substr(0, whole.size() / 2));
  CHECK_THAT(cut.text(), Catch::StartsWith("FOLDER/s: the tar file cannot be read: truncated gzip input"));
}

TEST_CASE(
    "an image of a tar file with a second dot in its name is refused with the member and the rule, if its sample has no other")
{
  const std::string rule = ", and not .jpg, .jpeg, .png or .webp. In a tar file, the key of a sample is its name up to the first "
                           "dot (";
  for (const auto& labels : {std::vector<Member>{{"b.v2.cls", "0"}}, {{"b.cls", "0"}}, {}}) {
    Bad bad;
    std::vector<Member> members{{"a.png", png(1)}, {"a.cls", "0"}, {"b.v2.PNG", png(2)}};
    members.insert(members.end(), labels.begin(), labels.end());
    write(bad.source(), tar(members));
    CHECK(bad.text() ==
          "FOLDER/s: the extension of the member b.v2.PNG is .v2.png" + rule +
              "b), and all that follows is the extension. Rename such members (to b_v2.png), or choose an extension: "
              "--images v2.png takes these images, and --images png leaves them out.");
  }
  Bad label;
  write(label.source(), tar({{"a.png", png(1)}, {"a.v2.cls", "0"}}));
  CHECK(label.text() ==
        "FOLDER/s: a.png has no label: there is no member a.cls. There is a.v2.cls, but the key of a sample is its "
        "name up to the first dot. Rename it, or choose the labels with --labels v2.cls.");
}

TEST_CASE("options that the source's format does not read are refused")
{
  Bad folder;
  write_class_folders(folder.source(), {"a"}, 1);
  folder.options.source.images = "x";
  CHECK(folder.text() ==
        "--images is for the formats hdf5, npz and tar, but FOLDER/s has the format folder. Leave out --images.");
  Bad shard;
  write(shard.source(), tar({{"1.png", png(1)}, {"1.cls", "0"}}));
  shard.options.source.test_folder = "val";
  CHECK(shard.text() == "--test-folder is for the format folder, but FOLDER/s has the format tar. Leave it out.");
}

TEST_CASE("arrays of other names, types, shapes and sizes are refused with what is there")
{
  struct Row {
    std::string x, y, why, layout = "";
  };
  const auto pixels = [](const std::string& shape, std::size_t bytes) { return npy("|u1", shape, zeros(bytes)); };
  const auto labels = npy("<i8", "(2,)", zeros(16)), images = pixels("(2, 2, 2)", 8), threes = pixels("(2, 3, 5, 3)", 90);
  const std::string rule = ": labels are integers, one for each image: (2,).";
  for (const auto& [x, y, why, layout] : std::vector<Row>{
           {npy("<f4", "(2, 2, 2)", zeros(32)), labels, "FOLDER/s: x (2, 2, 2) float32: images are unsigned bytes (uint8)."},
           {pixels("(2, 4)", 8), labels,
            "FOLDER/s: x (2, 4) uint8: images are (N, height, width), (N, height, width, channels) or (N, channels, height, "
            "width)."},
           {pixels("(3, 2, 2)", 12), labels, "FOLDER/s: y has 2 labels, but x has 3 images."},
           {images, npy("<f8", "(2,)", zeros(16)), "FOLDER/s: y (2,) float64" + rule + " Save y.astype('int64')."},
           {images, npy("<U1", "(2,)", zeros(8)),
            "FOLDER/s: y (2,) text" + rule +
                " Save numpy.unique(y, return_inverse=True)[1], which numbers the texts in their order."},
           {images, npy("|O", "(2,)", zeros(8)), "FOLDER/s: y (2,) of Python objects" + rule},
           {images, npy("<i8", "(2, 3)", zeros(48)),
            "FOLDER/s: y (2, 3) int64" + rule + " Save y.argmax(1), if they are one-hot."},
           {threes, labels,
            "FOLDER/s: x (2, 3, 5, 3) uint8: the channels may be the second or the last dimension. Say which with --layout nchw "
            "or "
            "--layout nhwc."},
           {threes, labels, "", "nchw"},
           {pixels("(2, 4, 5, 6)", 240), labels, "FOLDER/s: x (2, 4, 5, 6) uint8: there are neither 1 nor 3 channels."},
           {pixels("(2, 2, 2)", 7), labels, "FOLDER/s: member x.npy holds fewer bytes than its shape says."},
           {npy("|u1", "(2, 2, 2)", zeros(8), "True"), labels,
            "FOLDER/s: x (2, 2, 2) uint8: the array is in Fortran's order, in which no image lies in one place. Save "
            "numpy.ascontiguousarray(x)."},
           {images, npy("<i8", "(2,)", little_endian(1, 8) + zeros(8).replace(7, 1, "\x80")),
            "x[1] has the label -9223372036854775808; labels are numbers from 0 to the number of classes - 1, below 1000000."}}) {
    Bad bad;
    bad.options.source.layout = layout;
    write(bad.source(), zip({{"x.npy", x}, {"y.npy", y}}));
    CHECK(bad.text() == why);
  }
  Bad names;
  write(names.source(), zip({{"a.npy", pixels("(2, 3)", 6)}, {"b.npy", labels}}));
  CHECK(names.text() ==
        "FOLDER/s: no images and labels with the usual names (images and labels, x and y, data and label, "
        "train_images and train_labels, …). The file has a (2, 3) uint8, b (2,) int64. Name them with --images and "
        "--labels.");
}

TEST_CASE("corrupt images are listed, and packing without them needs no second pass")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write_class_folders(source, {"a", "b"}, 20);
  for (int i = 0; i < 12; ++i) write(source / "a" / (std::to_string(i) + ".png"), i == 0 ? "" : png(i).substr(0, 60));
  auto options = plain_options(source, folder.path() / "s.pack");
  const auto message = complaint(options);
  CHECK_THAT(message, Catch::StartsWith("12 of 40 images cannot be decoded:\n  a/0.png: the file is empty\n  a/1.png: ") &&
                          Catch::Contains("\n  and 2 more\nRepair or remove these files and pack again with --restart, or leave "
                                          "them out of the set with --corrupt skip."));
  CHECK_FALSE(fs::exists(options.output));
  options.skip_corrupt = true;
  const auto result = data::pack_data(options);
  CHECK(result.resumed == 40);
  CHECK(result.description.skipped == 12);
  CHECK(result.description.train_samples == 28);
  REQUIRE(result.remarks.size() == 1);
  const PackedFile file(options.output);
  file.require_intact_index();
  CHECK(file.size() == 28);
  CHECK_FALSE(fs::exists(folder.path() / "s.pack.partial"));
  CHECK_FALSE(fs::exists(folder.path() / "s.pack.journal"));
  CHECK(data::pack_data(options).was_there);
}

TEST_CASE("leaving out corrupt images never empties a class unnoticed, and a remark tells when it empties the test set")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write_class_folders(source / "train", {"a", "b"}, 2);
  write(source / "test" / "a" / "x.png", "no image");
  for (const auto* name : {"0.png", "1.png"}) write(source / "train" / "b" / name, "no image");
  auto options = plain_options(source, folder.path() / "s.pack");
  options.split.test_fraction.reset();
  options.skip_corrupt = true;
  CHECK_THAT(complaint(options),
             Catch::StartsWith("Without the images that cannot be decoded, 1 of the 2 classes has no images"));
  CHECK_FALSE(fs::exists(options.output));
  options.allow_empty_classes = true;
  const auto result = data::pack_data(options);
  CHECK(result.resumed == 5);
  CHECK(result.description.test_samples == 0);
  REQUIRE(result.remarks.size() == 2);
  CHECK(result.remarks[1] == "No image of the test set can be decoded, so the set has no test images.");
}
