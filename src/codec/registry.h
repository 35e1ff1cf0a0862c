// The static table of codecs. Tests, fuzzers, benches, the CLI and Python enumerate it.
#pragma once

#include <span>
#include <string_view>

#include "codec/codec.h"

namespace thinwire::codec {

// Every codec of this build, in order of id.
std::span<const Codec* const> all_codecs();

// nullptr if this build has no such codec.
const Codec* find_codec(CodecId id);
const Codec* find_codec(std::string_view name);

// The codec that every build has and every message can fall back to.
const Codec& raw_codec();

}  // namespace thinwire::codec
