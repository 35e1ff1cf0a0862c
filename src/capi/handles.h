// What the opaque handles of the C ABI hold.
#pragma once

#include <string>

#include "codec/registry.h"
#include "codec/spec.h"
#include "message/message.h"
#include "thinwire/thinwire.h"

struct tw_codec {
  thinwire::codec::Spec spec;
  std::string text;  // the normal form, kept for tw_codec_spec()

  // "off" codes raw frames, and so does "auto", which chooses no codec in this version.
  thinwire::message::Coder coder() const {
    if (spec.kind == thinwire::codec::Spec::Kind::kCodec) return {spec.codec, spec.parameter};
    return {&thinwire::codec::raw_codec(), 0};
  }
};
