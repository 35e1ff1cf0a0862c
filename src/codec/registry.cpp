#include "codec/registry.h"

#include <array>

#include "codec/ans/ans.h"
#include "codec/blockq/blockq.h"
#include "codec/expack/expack.h"
#include "codec/lorenzo/lorenzo.h"
#include "codec/mpc/mpc.h"
#include "codec/ndzip/ndzip.h"
#include "codec/nvcomp/nvcomp.h"
#include "codec/raw/raw.h"
#include "codec/szp/szp.h"
#include "codec/zfp/zfp.h"
#ifdef THINWIRE_TEST_CODECS
#include "codec/shrink/shrink.h"
#endif

namespace thinwire::codec {
namespace {

constexpr auto kCodecs = std::to_array<const Codec*>({
    &kRaw,
    &kZfp,
    &kMpc,
    &kExpack,
    &kLorenzo,
    &kSzp,
    &kNdzip,
    &kBlockq,
    &kNvcompAns,
    &kNvcompBitcomp,
    &kNvcompCascaded,
    &kNvcompLz4,
    &kNvcompBitcompLossy,
    &kAns,
#ifdef THINWIRE_TEST_CODECS
    &kShrink,
#endif
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
