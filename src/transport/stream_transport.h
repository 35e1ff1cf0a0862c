// How bytes get from rank to rank if the host only enqueues: in stream order, nothing waited
// for.
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "device/stream.h"

namespace thinwire::transport {

// One rank's end. Both sides know every length beforehand. Between two ranks messages meet in the
// order in which they are posted. One thread at a time.
//
// Posts messages in stream order. Those between begin_group() and end_group() are a group: they are
// under way at once, and work that comes after them on the stream waits for all of them. Groups of
// one rank follow one another, so that ranks whose groups wait for each other in a circle wait for
// ever. The memory must stay until the stream has come past the group.
class StreamTransport {
 public:
  virtual ~StreamTransport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sizes are above 0. A failure inside a group is reported at once or by end_group(), which must
  // be called all the same.
  virtual Status begin_group() = 0;
  virtual Status send(int peer, ByteView bytes, device::StreamHandle stream) = 0;
  virtual Status receive(int peer, MutableByteView into, device::StreamHandle stream) = 0;
  virtual Status end_group() = 0;

  // Inside a group: what is posted from now on is of the `call`-th of those that are enqueued.
  virtual Status begin_call(std::uint32_t) { return {}; }

  // Inside a group, in place: `blocks` has size() parts of equal length, this rank's own among
  // them; the others come. Without a better way as messages between all pairs.
  virtual Status all_gather(MutableByteView blocks, device::StreamHandle stream);

  // Inside a group, in place: what `root` has comes to all others. Else as messages of the root's.
  virtual Status broadcast(int root, MutableByteView bytes, device::StreamHandle stream);

  // Whether streams are queues of host functions, and everything on them is done by such.
  virtual bool on_host() const { return false; }

  // Puts function(argument) on a stream of host functions; it may run at the same time as those of
  // other streams.
  virtual Status call(void (*function)(void*), void* argument, device::StreamHandle stream);

  // Tells what has failed since, unseen by the host; never waits. After a failure the transport is
  // of no use any more, and what is on the streams may never end.
  virtual Status check() = 0;
};

}  // namespace thinwire::transport
