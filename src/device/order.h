// Work of one stream behind that of another, of whichever devices they are. CUDA builds only.
#pragma once

#include "base/status.h"
#include "device/stream.h"

struct CUevent_st;

namespace thinwire::device {

// The device of a stream; `fallback` where that cannot be told, and for CUDA's default streams,
// which are every device's.
int device_of_stream(StreamHandle stream, int fallback);

// What comes behind it on `later` waits for what is on `earlier` now, of whose device `event` is.
Status wait_for(StreamHandle earlier, CUevent_st* event, StreamHandle later);

}  // namespace thinwire::device
