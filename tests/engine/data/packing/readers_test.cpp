// What the readers of sources find.
#include "tests/engine/data/packing/sources.hpp"
#include "tests/support/temporary_folder.hpp"

#include "engine/data/images/resize.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

data::SourceListing list(const fs::path& path)
{
  data::SourceOptions options;
  options.path = path;
  return data::open_source(options)->listing();
}

// Packs the source without a test set, in its own order.
PackedFile packed(const TemporaryFolder& folder, const fs::path& source)
{
  const auto output = folder.path() / (source.filename().string() + ".pack");
  data::pack_data(plain_options(source, output));
  return PackedFile(output);
}

} // namespace

TEST_CASE("class folders become classes in alphabetical order, and their images records in alphabetical order")
{
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "s", {"bee", "ant"}, 3);
  const auto file = packed(folder, folder.path() / "s");
  CHECK(file.description().classes == std::vector<std::string>{"ant", "bee"});
  CHECK(file.description().source == "folder s");
  REQUIRE(file.size() == 6);
  CHECK(file.name(0) == "ant/0.png");
  CHECK(file.entry(0).label == 0);
  CHECK(record(file, 0) == text_of(numbered_image(3)));
  CHECK(file.name(5) == "bee/2.png");
  CHECK(file.entry(5).label == 1);
  CHECK(record(file, 5) == text_of(numbered_image(2)));
}

TEST_CASE("folders of a training set and of a test set are the given split, however they spell it")
{
  const TemporaryFolder folder;
  for (const auto& [train, test] : std::vector<std::pair<std::string, std::string>>{{"train", "test"},
                                                                                    {"train", "val"},
                                                                                    {"train", "valid"},
                                                                                    {"train", "validation"},
                                                                                    {"Training", "Testing"},
                                                                                    {"TRAIN", "TEST"},
                                                                                    {"train_set", "test_set"},
                                                                                    {"seg_train", "seg_test"},
                                                                                    {"Train_images", "Test_images"},
                                                                                    {"train2017", "val2017"},
                                                                                    {"trainset", "testset"},
                                                                                    {"TrainData", "TestData"},
                                                                                    {"train", "dev"},
                                                                                    {"train", "hold-out"},
                                                                                    {"train", "holdout"},
                                                                                    {"training-set", "evaluation-set"},
                                                                                    {"flowers.train", "flowers.valid"}}) {
    const auto source = folder.path() / (train + test);
    write_class_folders(source / train, {"a", "b"}, 3);
    write_class_folders(source / test, {"a", "b"}, 2);
    const auto listing = list(source);
    INFO(train << " " << test);
    CHECK(listing.classes == std::vector<std::string>{"a", "b"});
    CHECK(listing.items.size() == 10);
    CHECK(std::ranges::count_if(listing.items, &data::SourceItem::is_test) == 4);
    CHECK(listing.items.back().name == test + "/b/1.png");
    CHECK(listing.remarks.empty());
  }
}

TEST_CASE("a split that was unpacked into a folder of its own name is found, and folders beside the split are named")
{
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "s/seg_train/seg_train", {"a", "b"}, 3);
  write_class_folders(folder.path() / "s/seg_test/seg_test", {"a", "b"}, 2);
  write(folder.path() / "s/seg_pred/seg_pred/1.png", png(1));
  const auto listing = list(folder.path() / "s");
  CHECK(listing.classes == std::vector<std::string>{"a", "b"});
  CHECK(listing.items.front().name == "seg_train/seg_train/a/0.png");
  CHECK(listing.remarks == std::vector<std::string>{"1 folder was left out, because the training set is seg_train/seg_train/ and "
                                                    "the test set seg_test/seg_test/: seg_pred/."});
}

TEST_CASE("a class that is called train, test or dev stays a class")
{
  const TemporaryFolder folder;
  write_class_folders(folder.path() / "vehicles", {"bus", "car", "train"}, 2);
  CHECK(list(folder.path() / "vehicles").classes == std::vector<std::string>{"bus", "car", "train"});
  write_class_folders(folder.path() / "kinds/train", {"steam", "diesel"}, 2);
  write(folder.path() / "kinds/train/1.png", png(1));
  write_class_folders(folder.path() / "kinds", {"bus"}, 2);
  CHECK(list(folder.path() / "kinds").classes == std::vector<std::string>{"bus", "train"});
  write_class_folders(folder.path() / "stages/dev", {"x"}, 2);
  write_class_folders(folder.path() / "stages/prod", {"y"}, 2);
  CHECK(list(folder.path() / "stages").classes == std::vector<std::string>{"dev", "prod"});
}

TEST_CASE("folders train and test in every class folder are named, because their images are taken together")
{
  const TemporaryFolder folder;
  for (const auto* name : {"a", "b"}) write_class_folders(folder.path() / "s" / name, {"train", "test"}, 2);
  const auto listing = list(folder.path() / "s");
  CHECK(listing.classes == std::vector<std::string>{"a", "b"});
  REQUIRE(listing.remarks.size() == 1);
  CHECK(
      listing.remarks[0].starts_with("Each class folder holds folders of a training set and of a test set, and their images were "
                                     "taken together."));
}

TEST_CASE("images in sub-folders of a class belong to the class, hidden and other files are left out, and the others are counted")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write_class_folders(source, {"a", "b"}, 1);
  write(source / "a" / "more" / "deep.PNG", png(7));
  write(source / "a" / ".hidden.png", "x");
  write(source / "a" / "notes.txt", "x");
  write(source / "b" / "old.gif", "x");
  write(source / "b" / "older.gif", "x");
  write(source / "README", "x");
  const auto listing = list(source);
  CHECK(listing.items.size() == 3);
  CHECK(listing.items[1].name == "a/more/deep.PNG");
  REQUIRE(listing.remarks.size() == 1);
  CHECK(listing.remarks[0] == "4 files were left out because of their extension: .gif (2), .txt (1), no extension (1).");
}

TEST_CASE("members of tar files become records with the labels of their .cls members")
{
  const TemporaryFolder folder;
  const std::vector<Member> members{{"a/1.png", png(1)}, {"a/1.cls", "2\n"},  {"a/1.json", "{}"}, {"a/2.cls", "0"},
                                    {"a/2.png", png(2)}, {"a/3.png", png(3)}, {"a/3.cls", "1"}};
  write(folder.path() / "plain.tar", tar(members));
  write(folder.path() / "packed.tgz", gzip(tar(members)));
  for (const auto* name : {"plain.tar", "packed.tgz"}) {
    const auto file = packed(folder, folder.path() / name);
    REQUIRE(file.size() == 3);
    CHECK(file.description().classes == std::vector<std::string>{"0", "1", "2"});
    CHECK(file.name(0) == std::string(name) + "/a/1.png");
    CHECK(file.entry(0).label == 2);
    CHECK(file.entry(1).label == 0);
    for (int i = 0; i < 3; ++i) CHECK(record(file, i) == text_of(numbered_image(i + 1)));
  }
}

TEST_CASE("the extension of a tar member is all behind the first dot of its name, in upper or lower case")
{
  const TemporaryFolder folder;
  const auto shard = folder.path() / "s.TAR";
  write(shard, tar({{"x.y/1.PNG", png(1)}, {"x.y/1.CLS", "1"}, {"z/1.seg.png", "mask"}, {"z/1.png", png(2)}, {"z/1.Cls", "0"}}));
  const auto listing = list(shard);
  REQUIRE(listing.items.size() == 2);
  CHECK(listing.items[0].name == "s.TAR/x.y/1.PNG");
  CHECK(listing.items[0].label == 1);
  CHECK(listing.items[1].name == "s.TAR/z/1.png");
  CHECK(listing.remarks == std::vector<std::string>{"1 file was left out because of its extension: .seg.png (1). In a tar file, "
                                                    "the extension is all that follows the first dot of a name."});
}

TEST_CASE("options --images and --labels choose the members of a tar file by their extensions")
{
  const TemporaryFolder folder;
  write(folder.path() / "s.tar", tar({{"1.left.png", png(1)}, {"1.right.png", png(2)}, {"1.txt", "dog"}, {"1.cls", "7"}}));
  for (const std::string images : {"right.png", ".Right.PNG"}) {
    auto options = plain_options(folder.path() / "s.tar", folder.path() / (images + ".pack"));
    options.source.images = images;
    options.source.labels = "txt";
    data::pack_data(options);
    const PackedFile file(options.output);
    REQUIRE(file.size() == 1);
    CHECK(file.name(0) == "s.tar/1.right.png");
    CHECK(file.description().classes == std::vector<std::string>{"dog"});
    CHECK(record(file, 0) == text_of(numbered_image(2)));
  }
}

TEST_CASE("what a tar file holds beside its samples is counted and named")
{
  const TemporaryFolder folder;
  const auto source = folder.path() / "s";
  write(source / "a.tar", tar({{"1.png", png(1)},
                               {"1.cls", "0"},
                               {"2.gif", "x"},
                               {"2.cls", "1"},
                               {"3.cls", "1"},
                               {"._1.png", "x"},
                               {".4.png", "x"}}));
  write(source / "more" / "deep" / "b.tar", tar({{"1.png", png(2)}, {"1.cls", "1"}}));
  write(source / "c.tar.bz2", "x");
  const auto listing = list(source);
  CHECK(listing.items.size() == 2);
  CHECK(listing.remarks == std::vector<std::string>{"2 labels without an image were left out; the first is a.tar/2.cls.",
                                                    "1 image was left out because the name begins with a dot.",
                                                    "2 files were left out because of their extension: .bz2 (1), .gif (1)."});
}

TEST_CASE("class names in .cls members become sorted classes, and names of shards say the split")
{
  const TemporaryFolder folder;
  const auto shard = [](int number, const std::string& label) { return tar({{"1.png", png(number)}, {"1.cls", label}}); };
  write(folder.path() / "s" / "set-train-0.tar", shard(1, "dog"));
  write(folder.path() / "s" / "set-train-1.tar", shard(2, "cat"));
  write(folder.path() / "s" / "set-val-0.tar", shard(3, "dog"));
  const auto listing = list(folder.path() / "s");
  CHECK(listing.classes == std::vector<std::string>{"cat", "dog"});
  REQUIRE(listing.items.size() == 3);
  CHECK(listing.items[0].label == 1);
  CHECK(listing.items[1].label == 0);
  CHECK_FALSE(listing.items[1].is_test);
  CHECK(listing.items[2].is_test);
  CHECK(listing.items[2].name == "set-val-0.tar/1.png");
}

TEST_CASE("arrays of NumPy give the same records stored, deflated and with zip64 fields, channels last or first")
{
  const TemporaryFolder folder;
  std::string last, first;
  for (int i = 0; i < 4; ++i) {
    const auto image = numbered_image(i);
    last += text_of(image);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t p = 0; p < 30; ++p) first += static_cast<char>(image.pixels[3 * p + c]);
  }
  const auto labels = npy("<i8", "(4,)", little_endian(1, 8) + little_endian(0, 8) + little_endian(1, 8) + little_endian(2, 8));
  const std::vector<Member> channels_last{{"images.npy", npy("|u1", "(4, 6, 5, 3)", last)}, {"labels.npy", labels}},
      channels_first{{"x.npy", npy("|u1", "(4, 3, 6, 5)", first)}, {"y.npy", labels}};
  write(folder.path() / "stored.npz", zip(channels_last));
  write(folder.path() / "deflated.npz", zip(channels_last, true));
  write(folder.path() / "large.npz", zip(channels_last, false, true));
  write(folder.path() / "first.npz", zip(channels_first, true));
  for (const auto* name : {"stored.npz", "deflated.npz", "large.npz", "first.npz"}) {
    INFO(name);
    const auto file = packed(folder, folder.path() / name);
    REQUIRE(file.size() == 4);
    CHECK(file.entry(3).label == 2);
    for (int i = 0; i < 4; ++i) CHECK(record(file, i) == text_of(numbered_image(i)));
  }
}

TEST_CASE("train and test arrays of an archive are the given split, and grey images have no channel dimension")
{
  const TemporaryFolder folder;
  const auto grey = [](int number) { return text_of(numbered_image(number, 6, 5, 1)); };
  write(folder.path() / "a.npz", zip({{"x_train.npy", npy("|u1", "(2, 6, 5)", grey(0) + grey(1))},
                                      {"y_train.npy", npy("|u1", "(2, 1)", std::string("\0\1", 2))},
                                      {"x_test.npy", npy("|u1", "(1, 6, 5)", grey(2))},
                                      {"y_test.npy", npy("<i2", "(1,)", little_endian(1, 2))}}));
  const auto listing = list(folder.path() / "a.npz");
  REQUIRE(listing.items.size() == 3);
  CHECK(listing.channels == 1);
  CHECK(listing.items[2].is_test);
  CHECK(listing.items[2].name == "x_test[0]");
  CHECK(listing.items[2].label == 1);
}

TEST_CASE("the arrays of a split are found however they spell it, and arrays that are not used are named")
{
  const TemporaryFolder folder;
  const auto images = npy("|u1", "(2, 6, 5)", text_of(numbered_image(0, 6, 5, 1)) + text_of(numbered_image(1, 6, 5, 1)));
  const auto labels = npy("|u1", "(2,)", std::string("\0\1", 2));
  const auto listing_of = [&](const std::vector<std::string>& names) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < names.size(); ++i) members.emplace_back(names[i] + ".npy", i % 2 == 0 ? images : labels);
    write(folder.path() / "a.npz", zip(members));
    return list(folder.path() / "a.npz");
  };
  for (const auto& names :
       std::vector<std::vector<std::string>>{{"X_train", "Y_train", "X_val", "Y_val"},
                                             {"trainX", "trainY", "testX", "testY"},
                                             {"Xtrain", "ytrain", "Xtest", "ytest"},
                                             {"train_set_x", "train_set_y", "dev_set_x", "dev_set_y"},
                                             {"training/images", "training/labels", "valid/images", "valid/labels"},
                                             {"images", "labels", "test_images", "test_labels"},
                                             {"images_train", "labels_train", "images_holdout", "labels_holdout"}}) {
    const auto listing = listing_of(names);
    INFO(names[0]);
    REQUIRE(listing.items.size() == 4);
    CHECK_FALSE(listing.items[1].is_test);
    CHECK(listing.items[2].is_test);
    CHECK(listing.items[2].name == names[2] + "[0]");
    CHECK(listing.remarks.empty());
  }
  const auto three = listing_of({"train_images", "train_labels", "val_images", "val_labels", "test_images", "test_labels"});
  CHECK(three.items.back().name == "test_images[1]");
  CHECK(three.remarks == std::vector<std::string>{"2 arrays were left out: val_images (2, 6, 5) uint8, val_labels (2,) uint8."});
}

TEST_CASE("truth values are labels 0 and 1")
{
  const TemporaryFolder folder;
  write(folder.path() / "a.npz", zip({{"x.npy", npy("|u1", "(3, 2, 2)", std::string(12, '\1'))},
                                      {"y.npy", npy("|b1", "(3,)", std::string("\1\0\1", 3))}}));
  const auto listing = list(folder.path() / "a.npz");
  CHECK(listing.classes == std::vector<std::string>{"0", "1"});
  CHECK(listing.items[0].label == 1);
  CHECK(listing.items[1].label == 0);
}

TEST_CASE("tar files that lie one behind the other in one file are read to its end, compressed ones too")
{
  const TemporaryFolder folder;
  const auto first = tar({{"a.png", png(1)}, {"a.cls", "0"}}), second = tar({{"b.png", png(2)}, {"b.cls", "1"}});
  for (const auto& bytes :
       {first + second, first + std::string(10240, '\0') + second, compressed(first, 31) + compressed(second, 31),
        compressed(first + second, 31) + std::string(100, '\0')}) {
    write(folder.path() / "s.tar", bytes);
    const auto options = plain_options(folder.path() / "s.tar", folder.path() / "s.pack");
    fs::remove(options.output);
    data::pack_data(options);
    const PackedFile file(options.output);
    REQUIRE(file.size() == 2);
    CHECK(record(file, 0) == text_of(numbered_image(1)));
    CHECK(record(file, 1) == text_of(numbered_image(2)));
  }
}

TEST_CASE("the files of MNIST and CIFAR-10 become records with channels last and their given split")
{
  const TemporaryFolder folder;
  const auto mnist = folder.path() / "mnist", cifar = folder.path() / "cifar";
  write(mnist / "train-images-idx3-ubyte", idx(0x803, {3, 2, 2}, counting(12)));
  write(mnist / "train-labels-idx1-ubyte", idx(0x801, {3}, std::string("\2\0\1", 3)));
  write(mnist / "t10k-images-idx3-ubyte", idx(0x803, {1, 2, 2}, counting(4, 50)));
  write(mnist / "t10k-labels-idx1-ubyte", idx(0x801, {1}, std::string("\1", 1)));
  auto options = plain_options(mnist, folder.path() / "m.pack");
  options.split.test_fraction.reset();
  data::pack_data(options);
  const PackedFile file(folder.path() / "m.pack");
  CHECK(file.description().train_samples == 3);
  CHECK(file.description().test_samples == 1);
  CHECK(record(file, 1) == counting(4, 4));
  CHECK(record(file, 3) == counting(4, 50));
  CHECK(file.name(3) == "test[0]");
  for (int i = 1; i <= 5; ++i) write(cifar / ("data_batch_" + std::to_string(i) + ".bin"), static_cast<char>(i) + counting(3072));
  write(cifar / "test_batch.bin", '\0' + counting(3072));
  write(cifar / "batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const auto listing = list(cifar);
  CHECK(listing.classes.back() == "j");
  CHECK(listing.items.size() == 6);
  CHECK(listing.channels == 3);
  options.source.path = cifar;
  options.output = folder.path() / "c.pack";
  options.allow_empty_classes = true;
  data::pack_data(options);
  const auto pixels = record(PackedFile(options.output), 0);
  CHECK(pixels.substr(0, 4) == std::string("\0\0\0\1", 4)); // 1024 is 0 modulo 256
}
