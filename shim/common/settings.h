// Settings that all preload libraries read from the environment, and what each of them makes of a
// codec.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::shim {

// A switch, or a value other than 0.
bool is_on(const char* name);

// The setting's text; `fallback` if it is not set.
std::string text_or(const char* name, const char* fallback);

// Bytes; `fallback` if it is not set.
std::uint64_t size_or(const char* name, std::uint64_t fallback);

// THINWIRE_THRESHOLD.
std::uint64_t threshold();

// THINWIRE_REPORT: "" for none, "1" for standard error, else a file's path.
std::string report();

// THINWIRE_DISABLE. What is wrong with any setting is logged, unless all is switched off.
bool is_disabled();

// The row of the one codec that a spec names; "off", "auto" and "lossless" name none.
std::optional<tw_codec_info> row_of(const tw_codec* codec);

// Types that "auto" and "lossless" take, a bit 1 << tw_dtype for each.
inline constexpr std::uint32_t kFloats = 1U << TW_F32 | 1U << TW_F64 | 1U << TW_F16 |
                                         1U << TW_BF16 | 1U << TW_F8_E4M3 | 1U << TW_F8_E5M2;

// THINWIRE_CODEC, "auto" by default, for the caller to destroy. "off" if it cannot be made, or
// `objection` says why it cannot be used here: logged if this process `speaks` for its job, with
// `what` then goes raw, unless it is for a wrong setting, which has been logged.
tw_codec* read_codec(bool speaks, const char* what,
                     const std::function<std::string(const tw_codec*)>& objection = {});

// The codecs that the policy's rules name, each once, in their order, for the caller to destroy;
// and for each rule its codec's number: 0 for "default", else from 1 on. One that cannot be made
// goes as "off", and is logged.
std::vector<tw_codec*> codecs_of(const tw_policy* policy, std::vector<unsigned>& of_rule);

}  // namespace thinwire::shim
