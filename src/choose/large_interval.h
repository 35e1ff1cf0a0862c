// Whether what connections did while large messages were under way tells the link's rate. The
// kernel's busy time of a connection also holds the wait for acknowledgements of small messages,
// and a process has connections that no messages use: of those nothing may be believed. Pure: no
// clock, no sockets.
#pragma once

#include <span>

#include "choose/link.h"

namespace thinwire::choose {

// Growth of one connection's counters, since the interval began.
struct Growth {
  Delivered delivered;
  double taken_bytes = 0;    // from the program: what was delivered, or waits in the kernel
  double pending_bytes = 0;  // now, still to be delivered
};

// An interval from the start of a large message until all that were sent have been delivered. Times
// are in seconds of any one clock.
class LargeInterval {
 public:
  void open(double now);
  bool is_open() const { return is_open_; }

  // So many bytes have left as a message; of a collective nobody knows how many.
  void sent(double bytes) { sent_bytes_ += bytes; }
  void sent_unknown() { is_unknown_ = true; }

  // A small message leaves now. It does no harm beside large ones, but afterwards its
  // acknowledgement alone would be counted.
  void small(double now) { last_small_ = now; }

  // Whether all that were sent are delivered, as the connections stand now. If they are not,
  // small messages until now were beside large ones.
  bool is_finished(std::span<const Growth> connections, double now);

  // Whether it may be counted before it is finished: a program that always sends ahead never ends.
  bool is_long(std::span<const Growth> connections) const;

  // Whether connections carried for long, and took less than was sent: the MPI holds messages of a
  // program that always sends ahead, as many as it held when the interval began, which is then
  // counted from now on.
  bool is_behind(std::span<const Growth> connections) const;

  // Ends it. What of it tells the link's rate; nothing if it was not of large messages alone.
  Delivered close(std::span<const Growth> connections);

 private:
  double most_bytes() const;

  bool is_open_ = false;
  bool is_unknown_ = false;
  double sent_bytes_ = 0;
  double under_way_ = 0;  // when large messages were last seen on their way
  double last_small_ = 0;
};

}  // namespace thinwire::choose
