// Test codec 0xF0: keeps the data in a file of this machine and sends its key. Lossless for any
// data and always smaller, so that conformance suites take the compressed path whatever they send.
// Built for tests only; see tests/README.md.
#pragma once

#include "codec/codec.h"

namespace thinwire::codec {

extern const Codec kShrink;

}  // namespace thinwire::codec
