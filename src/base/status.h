// Status and Result: how every function inside Thinwire reports failure.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace thinwire {

// Values are part of the C ABI (tw_status); never renumber.
enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,  // the caller's mistake: a null pointer, a spec that does not parse
  kUnsupported = 2,      // well formed, but this build or codec cannot do it
  kNotAFrame = 3,        // the bytes do not begin with the expected mark
  kVersion = 4,          // a frame or codec format of another version
  kDamaged = 5,          // a checksum or a length contradicts the bytes
  kTooSmall = 6,         // the destination cannot hold the result
  kDeclined = 7,         // the codec does not take this data (NaN, infinity) or it would not shrink
  kInternal = 8,
  kDevice = 9,          // the CUDA driver or a GPU failed, or none is there
  kHoldsIntegers = 10,  // declined: fp64 values whose bits read as integers, and the codec is lossy
};

// One short English phrase per code, for example "damaged frame".
const char* status_text(StatusCode code);

// Whether it says that a codec does not take some data, which then goes as it is.
constexpr bool is_declined(StatusCode code) {
  return code == StatusCode::kDeclined || code == StatusCode::kHoldsIntegers;
}

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  Result(StatusCode code, std::string message) : status_(code, std::move(message)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const T& operator*() const { return *value_; }
  T& operator*() { return *value_; }
  const T* operator->() const { return &*value_; }
  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace thinwire
