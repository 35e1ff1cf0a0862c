// The processor's floating-point mode is the program's: it may flush subnormals to zero
// (-ffast-math, Intel's compilers), trap on NaN or overflow, or round another way. What is coded,
// added and planned here must not depend on that, nor end the program: encoded bytes, bounds and
// plans are the same on all ranks.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace thinwire {

// While it lives this thread rounds to nearest, keeps subnormals and traps nothing; then everything
// is as before, the flags of past exceptions too.
class DefaultFloatMode {
 public:
#if defined(__x86_64__)
  DefaultFloatMode() {
    asm volatile("stmxcsr %0" : "=m"(before_)::"memory");
    if ((before_ & ~kFlags) != kDefault) set(kDefault);
  }
  ~DefaultFloatMode() { set(before_); }

 private:
  static constexpr std::uint32_t kFlags = 0x3F, kDefault = 0x1F80;
  static void set(std::uint32_t mode) { asm volatile("ldmxcsr %0" ::"m"(mode) : "memory"); }
  std::uint32_t before_;
#elif defined(__aarch64__)
  DefaultFloatMode() {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(mode_), "=r"(flags_)::"memory");
    if (mode_ != 0) asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}) : "memory");
  }
  ~DefaultFloatMode() {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(mode_), "r"(flags_) : "memory");
  }

 private:
  std::uint64_t mode_, flags_;
#else
  DefaultFloatMode() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatMode() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
#endif

 public:
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;
};

}  // namespace thinwire
