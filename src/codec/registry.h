// The static table of codecs. Tests, fuzzers, benches, the CLI and Python enumerate it.
#pragma once

#include <span>
#include <string_view>

#include "codec/codec.h"
#include "codec/job.h"

namespace thinwire::codec {

// Every codec of this build, in order of id.
std::span<const Codec* const> all_codecs();

// nullptr if this build has no such codec.
const Codec* find_codec(CodecId id);
const Codec* find_codec(std::string_view name);

// The codec that every build has and every message can fall back to.
const Codec& raw_codec();

// The codecs' rows by name. Each codec's folder defines its own (codec.h says what a row has); the
// registry collects them. A GPU side is there only in builds with CUDA; nvCOMP's codecs keep theirs
// to themselves.
#define CODEC(name)           \
  extern const Codec k##name; \
  extern const DeviceCodec k##name##Device;
#define TEST_CODEC(name) extern const Codec k##name;
#include "codec/codecs.def"

}  // namespace thinwire::codec
