#include "codec/registry.h"

#include <array>

namespace thinwire::codec {
namespace {

constexpr auto kCodecs = std::to_array<const Codec*>({
#define CODEC(name) &k##name,
#ifdef THINWIRE_TEST_CODECS
#define TEST_CODEC CODEC
#endif
#include "codec/codecs.def"
});

}  // namespace

std::span<const Codec* const> all_codecs() { return kCodecs; }

const Codec* find_codec(CodecId id) {
  for (const Codec* codec : kCodecs) {
    if (codec->id == id) return codec;
  }
  return nullptr;
}

const Codec* find_codec(std::string_view name) {
  for (const Codec* codec : kCodecs) {
    if (codec->name == name) return codec;
  }
  return nullptr;
}

const Codec& raw_codec() { return kRaw; }

}  // namespace thinwire::codec
