// The contents of the C ABI's opaque handles.
#pragma once

#include <memory>
#include <string>

#include "capi/shells.h"
#include "codec/registry.h"
#include "codec/spec.h"
#include "costs/costs.h"
#include "message/automatic.h"
#include "thinwire/thinwire.h"

struct tw_costs {
  std::shared_ptr<const thinwire::costs::Table> table;  // communicators keep it, too
};

struct tw_codec {
  thinwire::codec::Spec spec;
  std::string text;  // the normal form, kept for tw_codec_spec()

  bool is_auto() const { return spec.kind == thinwire::codec::Spec::Kind::kAuto; }

  // For calls that look at no data: "off" and a bound of reductions alone code raw frames, "auto"
  // goes by dtype and shape.
  thinwire::message::Coder coder_of(const thinwire::codec::Chunk& array) const {
    const bool names_one = spec.kind == thinwire::codec::Spec::Kind::kCodec;
    if (names_one && !spec.reductions_alone) return {spec.codec, spec.parameter};
    if (is_auto()) return thinwire::message::automatic_in_stream(array);
    return {&thinwire::codec::raw_codec(), 0};
  }
};
