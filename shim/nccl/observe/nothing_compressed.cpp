#include "observe/report.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "shim/common/silence.h"
#include "state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

// Whether calls counted under that reason may be of any size.
bool is_of_any_size(int reason) {
  return reason == TW_RAW_OFF || reason == TW_RAW_BELOW_THRESHOLD || reason == kAlone ||
         reason == kUnusual;
}

std::string why(int reason) {
  const std::string text = reason_text(reason);
  if (reason != TW_RAW_BELOW_THRESHOLD) return text;
  return text + " of " + shim::size_text(settings().threshold);
}

struct Sums {
  std::uint64_t compressed = 0;
  std::array<std::uint64_t, kReasons> raw{};
};

Sums sums_of(const std::vector<Communicator*>& all) {
  Sums sums;
  for (const Communicator* each : all) {
    for (const Counters& of : each->of) {
      sums.compressed += of.compressed;
      for (int reason = 0; reason < kReasons; ++reason) sums.raw[reason] += of.raw[reason];
    }
  }
  return sums;
}

}  // namespace

void explain_nothing_compressed(const std::vector<Communicator*>& all) {
  // On standard error the report says it all.
  if (!settings().asked_for || settings().report == "1" || shim::is_silence_explained()) return;
  const int ranks = (*std::ranges::max_element(all, {}, &Communicator::ranks))->ranks;
  const Sums sums = sums_of(all);
  if (ranks < 2 || sums.compressed > 0) return;
  shim::LeftRaw left;
  for (int reason = 1; reason < kReasons; ++reason) {
    left.add(sums.raw[reason], "call", why(reason), is_of_any_size(reason));
  }
  const std::string text = left.text();
  if (text.empty()) return;
  const bool lacks_link = sums.raw[TW_RAW_NO_LINK] > 0;
  const std::string hint =
      lacks_link ? "name a codec, as lossless, or the link's rate; " : std::string();
  tw_log(TW_LOG_WARNING, ("rank 0 of " + std::to_string(ranks) + " compressed nothing by NCCL: " +
                          text + "; " + hint + "THINWIRE_REPORT=1 and THINWIRE_LOG=plan say more")
                             .c_str());
}

namespace {

// The program's file, as it is mapped anyway.
class Program {
 public:
  Program() {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
      bytes_ = static_cast<std::size_t>(about.st_size);
      at_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) close(file);
  }
  ~Program() {
    if (at_ != MAP_FAILED) munmap(at_, bytes_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string_view text() const {
    return at_ == MAP_FAILED ? "" : std::string_view(static_cast<const char*>(at_), bytes_);
  }

 private:
  void* at_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

// As NCCL says it when it starts: "NCCL version 2.28.9+cuda13.0".
bool says_version(std::string_view text) {
  constexpr std::string_view kBegins = "NCCL version ";
  for (auto at = text.find(kBegins); at != text.npos; at = text.find(kBegins, at + 1)) {
    const std::string_view rest = text.substr(at + kBegins.size(), 2);
    if (rest.size() == 2 && rest[0] >= '0' && rest[0] <= '9' && rest[1] == '.') return true;
  }
  return false;
}

}  // namespace

void say_if_unseen() {
  const char* const report = tw_setting_value("THINWIRE_REPORT");
  const char* const off = tw_setting_value("THINWIRE_DISABLE");
  const bool wanted = report != nullptr && std::string_view(report) != "0" &&
                      (off == nullptr || std::string_view(off) == "0");
  if (!wanted || tw_job_rank() > 0) return;
  // If there is a shared one, it was not called.
  if (dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD) != nullptr) return;
  if (!says_version(Program().text())) return;
  tw_log(TW_LOG_WARNING,
         "this program has NCCL linked into it: its calls of NCCL stay as they are, as no preload "
         "library sees them; link it to libnccl.so.2");
}

}  // namespace thinwire::nccl
