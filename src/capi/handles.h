// The contents of the C ABI's opaque handles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "capi/boundary.h"
#include "codec/registry.h"
#include "codec/spec.h"
#include "costs/costs.h"
#include "message/automatic.h"
#include "thinwire/thinwire.h"

namespace thinwire::capi {

// Shells of the C ABI's handles, which stay when their handle is destroyed. So one that is used or
// destroyed afterwards is told from a good one by a comparison.

template <class Handle>
class Shells {
 public:
  struct Close {
    void operator()(Handle* handle) const { close(handle); }
  };
  using Owned = std::unique_ptr<Handle, Close>;

  template <class... Fields>
  static Owned make(Fields&&... fields) {
    Shell* const shell = take();
    Handle* handle = nullptr;
    try {
      handle = ::new (static_cast<void*>(shell->room)) Handle{std::forward<Fields>(fields)...};
    } catch (...) {
      rest(shell);
      throw;
    }
    shell->mark.store(kOpen, std::memory_order_release);
    return Owned(handle);
  }

  static bool has(const Handle* handle) {
    return shell_of(handle)->mark.load(std::memory_order_relaxed) == kOpen;
  }

  // False if it is closed already; of two threads one closes it.
  static bool close(Handle* handle) {
    Shell* const shell = shell_of(handle);
    std::uint64_t mark = kOpen;
    if (!shell->mark.compare_exchange_strong(mark, 0, std::memory_order_acq_rel)) return false;
    std::destroy_at(handle);
    rest(shell);
    return true;
  }

 private:
  static constexpr std::uint64_t kOpen = 0x6E65706F20737469u;
  // How many others are closed before a shell holds a handle again.
  static constexpr std::size_t kMostResting = 256;

  struct Shell {
    std::atomic<std::uint64_t> mark = 0;
    Shell* next = nullptr;  // that was closed after it
    alignas(Handle) std::byte room[sizeof(Handle)];
  };

  static Shell* shell_of(const Handle* handle) {
    const auto* const room = reinterpret_cast<const std::byte*>(handle);
    return reinterpret_cast<Shell*>(const_cast<std::byte*>(room) - offsetof(Shell, room));
  }

  static Shell* take() {
    {
      const std::lock_guard lock(mutex_);
      if (resting_ > kMostResting) {
        --resting_;
        return std::exchange(first_, first_->next);
      }
    }
    return new Shell;
  }

  static void rest(Shell* shell) {
    const std::lock_guard lock(mutex_);
    shell->next = nullptr;
    (resting_ == 0 ? first_ : last_->next) = shell;
    last_ = shell;
    ++resting_;
  }

  // Never destroyed: exit handlers may still close handles.
  inline static std::mutex mutex_;
  inline static Shell* first_ = nullptr;
  inline static Shell* last_ = nullptr;
  inline static std::size_t resting_ = 0;
};

// Whether it is a handle, neither NULL nor one that was destroyed.
template <class Handle>
bool is_open(const Handle* handle) {
  return handle != nullptr && Shells<Handle>::has(handle);
}

// NULL, or a handle that is open.
template <class Handle>
bool is_none_or_open(const Handle* handle) {
  return handle == nullptr || Shells<Handle>::has(handle);
}

// Does nothing for NULL; for a handle that was destroyed `what` is the thread's last error.
template <class Handle>
void close_handle(Handle* handle, const char* what) {
  if (handle != nullptr && !Shells<Handle>::close(handle)) misuse(what);
}

}  // namespace thinwire::capi

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
    if (names_one && !spec.reductions_alone) {
      return {.codec = spec.codec, .parameter = spec.parameter, .fill = spec.fill};
    }
    if (is_auto()) return thinwire::message::automatic_in_stream(array);
    return {&thinwire::codec::raw_codec(), 0};
  }
};
