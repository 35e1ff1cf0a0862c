// The rate that a link is taken to have: what the user or the machine says, until connections tell.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace thinwire::choose {

enum class RateSource : std::uint32_t {
  kUnknown = 0,
  kStated = 1,    // by the user
  kMachine = 2,   // the machine's interfaces say so, or it is memory
  kMeasured = 3,  // of what was sent
};

// The source's name, as "measured". Static storage.
const char* source_text(RateSource source);

struct LinkRate {
  double bytes_per_second = 0;  // 0: not known
  RateSource source = RateSource::kUnknown;
};

// Whether it is one that somebody states or that was measured. What an interface says, divided by
// the ranks that might share it, may be wrong by any factor: by it alone nothing begins that no
// time corrects.
inline bool is_vouched_for(const LinkRate& rate) {
  return rate.bytes_per_second > 0 &&
         (rate.source == RateSource::kStated || rate.source == RateSource::kMeasured);
}

// Between the ranks of a node: one copy through memory.
inline constexpr double kMemoryBytesPerSecond = 5e9;

// One rank's share of an interface that all `ranks` of its node may send on at once.
double share_of(double interface_bytes_per_second, int ranks);

// Bytes that connections delivered in an interval.
struct Delivered {
  double bytes = 0;         // acknowledged by the other side
  double busy_seconds = 0;  // in which bytes were under way and the other side took them
};

// A rate that follows what was delivered. Delivered bytes are summed up to a window that is long
// against the kernel's clock (a few milliseconds). The last windows that agree with the one that is
// believed count together, so that noise is averaged; a slower link is believed within some
// windows. One that has become much faster would take many messages to fill a window, and is
// believed before.
class LinkEstimate {
 public:
  explicit LinkEstimate(LinkRate first = {}) : rate_(first) {}

  void add(const Delivered& delivered);
  const LinkRate& rate() const { return rate_; }

 private:
  static constexpr std::size_t kWindows = 4;

  bool is_whole() const;
  bool is_faster() const;
  void take(const Delivered& window);
  const Delivered& believed() const;

  LinkRate rate_;
  bool is_confirmed_ = false;  // the newest window agrees with what is believed
  Delivered open_;
  Delivered lately_;
  std::array<Delivered, kWindows> last_{};  // the newest first
};

// The rate at which raw messages would have travelled. The last acknowledgement of a short message
// waits for its receiver, who decodes before it has something to say, so that compressed messages
// make the link seem slower than raw ones find it.
class RateOfRaw {
 public:
  // Adds what connections did while raw messages alone were under way.
  void add(const Delivered& delivered) { of_raw_.add(delivered); }

  double rate(const LinkRate& believed) const {
    return std::max(believed.bytes_per_second, of_raw_.rate().bytes_per_second);
  }

 private:
  LinkEstimate of_raw_;
};

}  // namespace thinwire::choose
