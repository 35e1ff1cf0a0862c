#include "process/settings.h"

#include <cstdlib>
#include <cstring>

namespace thinwire::nccl {
namespace {

constexpr std::uint64_t kDefaultThreshold = 64 << 10;

bool is_on(const char* name) {
  const char* text = tw_setting_value(name);
  return text != nullptr && std::strcmp(text, "0") != 0;
}

// One that cannot be made is "off". A lossy one that a wrong setting withholds has been named by
// then; what is wrong with the spec itself is said here, by the process that a launcher calls
// first.
tw_codec* read_codec() {
  const char* const text = tw_setting_value("THINWIRE_CODEC");
  tw_codec* codec = nullptr;
  if (tw_codec_create(text == nullptr ? "auto" : text, &codec) == TW_OK) return codec;
  const std::string why = tw_last_error();
  const bool said =
      tw_setting_check("THINWIRE_CODEC", text) == TW_OK && tw_settings_judge() != TW_OK;
  if (!said && tw_job_rank() <= 0) {
    tw_log(TW_LOG_ERROR, ("THINWIRE_CODEC: " + why + ": every call goes raw").c_str());
  }
  tw_codec_create("off", &codec);
  return codec;
}

// The row of the named codec; nothing of "auto", "lossless" and "off".
bool describe(const tw_codec* codec, tw_codec_info* info) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    info->size = sizeof *info;
    if (tw_codec_describe(index, info) == TW_OK &&
        static_cast<std::int64_t>(info->id) == tw_codec_id(codec)) {
      return true;
    }
  }
  return false;
}

// "auto" and "lossless" take any float type, "off" none.
std::uint32_t dtypes_of(const tw_codec* codec) {
  if (tw_codec_ids(codec, nullptr, 0) == 0) return 0;
  tw_codec_info info{};
  if (describe(codec, &info)) return info.dtypes;
  return 1U << TW_F32 | 1U << TW_F64 | 1U << TW_F16 | 1U << TW_BF16;
}

bool sizes_follow_error(const tw_codec* codec) {
  tw_codec_info info{};
  return describe(codec, &info) && info.lossless == 0 && info.fixed_size == 0;
}

Settings read() {
  Settings read;
  read.disabled = is_on("THINWIRE_DISABLE");
  if (read.disabled && std::strcmp(std::getenv("THINWIRE_DISABLE"), "1") == 0) return read;
  tw_settings_judge();
  if (read.disabled) return read;
  read.codec = read_codec();
  read.codec_dtypes = dtypes_of(read.codec);
  read.threshold = kDefaultThreshold;
  if (const char* text = tw_setting_value("THINWIRE_THRESHOLD")) {
    tw_size_parse(text, &read.threshold);
  }
  const bool link_is_stated = tw_setting_value("THINWIRE_LINK") != nullptr;
  read.lacks_link = tw_codec_needs_link(read.codec) != 0 && !link_is_stated;
  // Nobody promises an order of additions under NCCL.
  read.sums = tw_codec_reductions(read.codec) != TW_REDUCTIONS_NATIVE;
  read.sizes_follow_error = sizes_follow_error(read.codec);
  read.sums_alone = tw_codec_reductions(read.codec) == TW_REDUCTIONS_ALONE;
  read.could_compress = read.codec_dtypes != 0 && !read.lacks_link;
  if (is_on("THINWIRE_REPORT")) read.report = tw_setting_value("THINWIRE_REPORT");
  return read;
}

}  // namespace

const Settings& settings() {
  static const Settings* const made = new Settings(read());
  return *made;
}

}  // namespace thinwire::nccl
