#include "engine/bench/input/record_source.hpp"

#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "engine/data/sources/block_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::bench {
namespace {

class RecordSource final : public data::Source {
 public:
  RecordSource(const std::filesystem::path& path, bool is_direct)
      : file_(std::make_shared<PackedFile>(path)), reader_(file_, is_direct)
  {
  }
  std::int64_t size() const override { return file_->description().train_samples; }
  std::int64_t channels() const override { return 1; }
  std::int64_t height() const override { return 1; }
  std::int64_t width() const override { return 1; }
  std::int64_t classes() const override { return static_cast<std::int64_t>(file_->description().classes.size()); }
  bool has_blocks() const override { return true; }

  std::int64_t bytes_per_sample() const override
  {
    const auto& last = file_->entry(size() - 1);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(last.begin + last.bytes - file_->entry(0).begin) / size());
  }

  std::shared_ptr<const data::Block> fetch(SampleRange samples) const override { return reader_.read(samples); }

  data::SampleRead read(const data::SampleRequest& request, float* image) const override
  {
    const auto* block = static_cast<const data::RecordBlock*>(request.block);
    std::string own;
    if (block == nullptr) file_->read(request.index, own);
    const auto bytes = block != nullptr ? block->bytes_of(file_->entry(request.index)) : std::string_view(own);
    if (!file_->is_intact(request.index, bytes))
      throw Error(ErrorKind::run,
                  fmt::format("record {} of {} has changed since it was packed", request.index, file_->path().string()));
    *image = 0;
    return {static_cast<std::int32_t>(file_->entry(request.index).label)};
  }

 private:
  std::shared_ptr<const PackedFile> file_;
  data::BlockReader reader_;
};

} // namespace

std::unique_ptr<data::Source> open_records(const std::filesystem::path& file, bool is_direct)
{
  return std::make_unique<RecordSource>(file, is_direct);
}

double drop_from_cache(const std::filesystem::path& path)
{
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw system_error("open " + path.string(), errno);
  ::fdatasync(file.get()); // only clean pages can be dropped
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto bytes = std::filesystem::file_size(path);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) throw system_error("map " + path.string(), errno);
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool is_known = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  if (!is_known) return 1;
  return static_cast<double>(std::ranges::count_if(pages, [](unsigned char bits) { return (bits & 1) != 0; })) /
         static_cast<double>(pages.size());
}

} // namespace dt::bench
