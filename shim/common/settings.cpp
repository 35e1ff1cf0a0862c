#include "shim/common/settings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace thinwire::shim {
namespace {

constexpr std::uint64_t kDefaultThreshold = 64 << 10;

// A lossy codec that is withheld for a wrong setting.
bool is_said(const char* spec) {
  return spec != nullptr && tw_setting_check("THINWIRE_CODEC", spec) == TW_OK &&
         tw_settings_judge() != TW_OK;
}

}  // namespace

bool is_on(const char* name) {
  const char* const text = tw_setting_value(name);
  return text != nullptr && std::strcmp(text, "0") != 0;
}

std::uint64_t size_or(const char* name, std::uint64_t fallback) {
  const char* const text = tw_setting_value(name);
  std::uint64_t bytes = fallback;
  if (text != nullptr) tw_size_parse(text, &bytes);
  return bytes;
}

std::string text_or(const char* name, const char* fallback) {
  const char* const text = tw_setting_value(name);
  return text == nullptr ? fallback : text;
}

std::uint64_t threshold() { return size_or("THINWIRE_THRESHOLD", kDefaultThreshold); }

std::string report() { return is_on("THINWIRE_REPORT") ? tw_setting_value("THINWIRE_REPORT") : ""; }

bool is_disabled() {
  const bool disabled = is_on("THINWIRE_DISABLE");
  // A wrong value counts as 1, too. A file may have it for many programs: that is judged.
  const char* const said = std::getenv("THINWIRE_DISABLE");
  if (!disabled || said == nullptr || std::strcmp(said, "1") != 0) tw_settings_judge();
  return disabled;
}

std::optional<tw_codec_info> row_of(const tw_codec* codec) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    if (tw_codec_describe(index, &info) == TW_OK &&
        static_cast<std::int64_t>(info.id) == tw_codec_id(codec)) {
      return info;
    }
  }
  return std::nullopt;
}

tw_codec* read_codec(bool speaks, const char* what,
                     const std::function<std::string(const tw_codec*)>& objection) {
  const char* const text = tw_setting_value("THINWIRE_CODEC");
  tw_codec* codec = nullptr;
  std::string why;
  if (tw_codec_create(text == nullptr ? "auto" : text, &codec) != TW_OK) {
    why = tw_last_error();
  } else if (objection) {
    why = objection(codec);
  }
  if (why.empty()) return codec;
  if (codec != nullptr) tw_codec_destroy(codec);
  if (speaks && !is_said(text)) {
    tw_log(TW_LOG_ERROR, ("THINWIRE_CODEC: " + why + ": every " + what + " goes raw").c_str());
  }
  tw_codec_create("off", &codec);
  return codec;
}

std::vector<tw_codec*> codecs_of(const tw_policy* policy, std::vector<unsigned>& of_rule) {
  std::vector<tw_codec*> made;
  std::vector<std::string> specs = {"default"};
  for (std::uint32_t at = 0; at < tw_policy_rule_count(policy); ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    tw_policy_describe(policy, at, &rule);
    const auto found = std::ranges::find(specs, rule.codec);
    of_rule.push_back(static_cast<unsigned>(found - specs.begin()));
    if (found != specs.end()) continue;
    specs.emplace_back(rule.codec);
    tw_codec* codec = nullptr;
    if (tw_codec_create(rule.codec, &codec) != TW_OK) {
      // Another setting may be wrong, which has been said.
      if (tw_settings_judge() == TW_OK) tw_log(TW_LOG_ERROR, tw_last_error());
      tw_codec_create("off", &codec);
    }
    made.push_back(codec);
  }
  return made;
}

}  // namespace thinwire::shim
