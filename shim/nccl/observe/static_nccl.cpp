#include "observe/static_nccl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
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
  const char* const report = std::getenv("THINWIRE_REPORT");
  const char* const off = std::getenv("THINWIRE_DISABLE");
  const bool wanted = report != nullptr && *report != '\0' && std::string_view(report) != "0" &&
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
