// Work of one stream after that of another, of whichever devices they are. CUDA builds only.
#pragma once

#include "base/status.h"
#include "device/stream.h"

struct CUevent_st;

namespace thinwire::device {

// The device of a stream; `fallback` if that cannot be told, and for CUDA's default streams,
// which are every device's.
int device_of_stream(StreamHandle stream, int fallback);

// Makes work that comes next on `later` wait for what is on `earlier` now; `event` is of the device
// of `earlier`.
Status wait_for(StreamHandle earlier, CUevent_st* event, StreamHandle later);

// Work on any streams of one device, each piece after the one before. One thread at a time, whose
// current device that is; nothing is captured.
class Order {
 public:
  Order() = default;
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  ~Order();

  // Makes work that comes next on the stream wait for what came before the last end().
  Status begin(StreamHandle stream);
  Status end(StreamHandle stream);

 private:
  CUevent_st* last_ = nullptr;
};

}  // namespace thinwire::device
