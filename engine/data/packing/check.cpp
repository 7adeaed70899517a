#include "engine/data/packing/check.hpp"

#include "core/data/packed_file.hpp"
#include "core/error.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "engine/data/images/decoder.hpp"
#include "engine/data/out_of_memory.hpp"
#include "engine/data/packing/content_facts.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include <fmt/format.h>

namespace dt::data {
namespace {

class Check {
 public:
  Check(const CheckOptions& options, const PackedFile& file) : options_(options), file_(file) { result_.records = file.size(); }

  void work()
  {
    try {
      ImageDecoder decoder;
      std::string bytes;
      Image image;
      std::int64_t begin = 0;
      while ((begin = next_.fetch_add(block)) < file_.size()) {
        const auto end = std::min(begin + block, file_.size());
        for (auto record = begin; record < end; ++record) try {
            look_at(record, decoder, bytes, image);
          } catch (const std::bad_alloc&) {
            throw out_of_memory(fmt::format("packed set {}: record {}", file_.path().string(), record));
          }
        report(end - begin);
      }
    } catch (...) {
      next_ = file_.size();
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  CheckResult result()
  {
    if (error_) std::rethrow_exception(error_);
    std::ranges::sort(result_.bad, {}, &BadRecord::record);
    std::ranges::sort(constant_);
    ContentFacts facts;
    facts.constant = static_cast<std::int64_t>(constant_.size());
    constant_.resize(std::min(constant_.size(), ContentFacts::most_named));
    facts.constant_images = std::move(constant_);
    const auto& set = file_.description();
    for (const auto& remark : {constant_remark(facts, file_.size(), [&](std::int64_t record) { return file_.name(record); }),
                               channels_remark(set.mean, set.deviation)})
      if (!remark.empty()) result_.remarks.push_back(remark);
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t block = 64;

  void look_at(std::int64_t record, ImageDecoder& decoder, std::string& bytes, Image& image)
  {
    std::string cause;
    file_.read(record, bytes);
    if (!file_.is_intact(record, bytes))
      cause = "its bytes are not those that were packed";
    else
      cause = trouble_with(bytes, decoder, image);
    if (cause.empty() && !is_constant(image)) return;
    const std::lock_guard lock(mutex_);
    if (cause.empty())
      constant_.push_back(record);
    else
      result_.bad.push_back({record, file_.name(record), cause});
  }

  // Why the record is not an image of the set; empty if it is one. `image` gets its pixels, none of a JPEG that is not decoded.
  std::string trouble_with(std::string_view bytes, ImageDecoder& decoder, Image& image) const
  {
    const auto& set = file_.description();
    const auto pixels = static_cast<std::uint64_t>(set.height * set.width * set.channels);
    image.reshape(0, 0, set.channels);
    if (set.encoding == PackedEncoding::pixels) {
      if (bytes.size() != pixels) return fmt::format("it has {} bytes; an image has {}", bytes.size(), pixels);
      image.reshape(set.height, set.width, set.channels);
      std::ranges::copy(bytes, image.pixels.begin());
      return "";
    }
    if (!options_.decode) return "";
    try {
      decoder.decode(bytes, set.channels, image);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  void report(std::int64_t records)
  {
    const std::lock_guard lock(mutex_);
    done_ += records;
    if (options_.progress) options_.progress(done_, file_.size());
  }

  const CheckOptions& options_;
  const PackedFile& file_;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_; // guards what follows
  std::int64_t done_ = 0;
  CheckResult result_;
  std::vector<std::int64_t> constant_; // records
  std::exception_ptr error_;
};

} // namespace

CheckResult check_packed(const CheckOptions& options)
{
  const PackedFile file(options.path);
  file.require_intact_index();
  Check check(options, file);
  {
    std::vector<std::jthread> helpers;
    const auto threads = options.threads > 0 ? options.threads : static_cast<int>(cpu_allowance().whole_cores());
    for (int i = 1; i < threads; ++i) helpers.emplace_back([&] { check.work(); });
    check.work();
  }
  return check.result();
}

} // namespace dt::data
