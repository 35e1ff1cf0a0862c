// The floating-point modes that programs run in: subnormals flushed to zero, as -ffast-math and
// Intel's compilers have it (x86 and ARM), results rounded up, and traps on what is not a number.
#pragma once

#include <cfenv>
#include <cstdint>

namespace thinwire {

class OtherFloatMode {
 public:
  OtherFloatMode() {
    std::fegetenv(&before_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    std::uint32_t mode = 0;
    asm volatile("stmxcsr %0" : "=m"(mode)::"memory");
    mode |= 0x8040;                                // flush to zero, denormals are zero
    mode &= ~std::uint32_t{0x80 | 0x200 | 0x400};  // trap: invalid, division by zero, overflow
    asm volatile("ldmxcsr %0" ::"m"(mode) : "memory");
#elif defined(__aarch64__)
    std::uint64_t mode = 0;
    asm volatile("mrs %0, fpcr" : "=r"(mode)::"memory");
    asm volatile("msr fpcr, %0" ::"r"(mode | std::uint64_t{1} << 24) : "memory");
#endif
  }
  ~OtherFloatMode() { std::fesetenv(&before_); }
  OtherFloatMode(const OtherFloatMode&) = delete;
  OtherFloatMode& operator=(const OtherFloatMode&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace thinwire
