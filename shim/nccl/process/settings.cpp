#include "process/settings.h"

#include <sstream>

#include "shim/common/settings.h"

namespace thinwire::nccl {
namespace {

// "off" takes none.
std::uint32_t dtypes_of(const tw_codec* codec) {
  if (tw_codec_ids(codec, nullptr, 0) == 0) return 0;
  const auto row = shim::row_of(codec);
  return row ? row->dtypes : shim::kFloats;
}

bool sizes_follow_error(const tw_codec* codec) {
  const auto row = shim::row_of(codec);
  return row && row->lossless == 0 && row->fixed_size == 0;
}

// One of the words that the setting may have.
bool is_pairwise() {
  const char* const text = tw_setting_value("THINWIRE_ALGORITHM");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == tw_algorithm_text(TW_ALGORITHM_PAIRWISE)) return true;
  }
  return false;
}

Settings read() {
  Settings read;
  read.disabled = shim::is_disabled();
  if (read.disabled) return read;
  read.codec = shim::read_codec(tw_job_rank() <= 0, "call");
  read.codec_dtypes = dtypes_of(read.codec);
  read.threshold = shim::threshold();
  const bool link_is_stated = tw_setting_value("THINWIRE_LINK") != nullptr;
  read.lacks_link = tw_codec_needs_link(read.codec) != 0 && !link_is_stated;
  // Nobody promises an order of additions under NCCL.
  read.sums = tw_codec_reductions(read.codec) != TW_REDUCTIONS_NATIVE;
  read.sizes_follow_error = sizes_follow_error(read.codec);
  read.sums_alone = tw_codec_reductions(read.codec) == TW_REDUCTIONS_ALONE;
  read.rounds = is_pairwise();
  read.same_node = shim::is_on("THINWIRE_SAME_NODE");
  read.could_compress = read.codec_dtypes != 0 && !read.lacks_link;
  read.report = shim::report();
  return read;
}

}  // namespace

const Settings& settings() {
  static const Settings* const made = new Settings(read());
  return *made;
}

}  // namespace thinwire::nccl
