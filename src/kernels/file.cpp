// The file of the kernels, judged before it is loaded: the loader would crash on one that was cut,
// and run the constructors of another build's.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "kernels/open.h"
#include "kernels_build.h"

namespace thinwire::kernels {
namespace {

constexpr std::uint64_t kMostHeaders = 1024;
constexpr std::uint64_t kMostNotes = 64 << 10;  // bytes of one segment

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat facts{};
    if (descriptor_ >= 0 && fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode)) {
      bytes_ = static_cast<std::uint64_t>(facts.st_size);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  bool holds(std::uint64_t at, std::uint64_t bytes) const {
    return at <= bytes_ && bytes <= bytes_ - at;
  }
  bool read(std::uint64_t at, void* to, std::uint64_t bytes) const {
    return holds(at, bytes) &&
           pread(descriptor_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  }

 private:
  int descriptor_;
  std::uint64_t bytes_ = 0;
};

constexpr std::size_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

// The build that a segment of notes tells; "" if it tells none.
std::string build_in(const std::vector<char>& notes) {
  std::size_t at = 0;
  ElfW(Nhdr) note;
  while (notes.size() - at >= sizeof note) {
    std::memcpy(&note, notes.data() + at, sizeof note);
    at += sizeof note;
    const std::size_t name = padded(note.n_namesz);
    const std::size_t text = padded(note.n_descsz);
    if (name > notes.size() - at || text > notes.size() - at - name) return "";
    const bool is_ours = note.n_type == kNoteType && note.n_namesz == sizeof kNoteName &&
                         std::memcmp(notes.data() + at, kNoteName, sizeof kNoteName) == 0;
    if (is_ours) return {notes.data() + at + name, note.n_descsz};
    at += name + text;
  }
  return "";
}

bool read_header(const File& file, ElfW(Ehdr) & header) {
  return file.read(0, &header, sizeof header) &&
         std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_phentsize == sizeof(ElfW(Phdr)) && header.e_phnum <= kMostHeaders;
}

enum class Found { kBuild, kNoBuild, kDamage };

Found find_build(const File& file, std::string& build) {
  ElfW(Ehdr) header;
  if (!read_header(file, header)) return Found::kDamage;
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (!file.read(header.e_phoff, segments.data(), segments.size() * sizeof segments[0]) ||
      !file.holds(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize)) {
    return Found::kDamage;
  }
  for (const auto& each : segments) {
    if (!file.holds(each.p_offset, each.p_filesz)) return Found::kDamage;
    if (each.p_type != PT_NOTE || each.p_filesz > kMostNotes || !build.empty()) continue;
    std::vector<char> notes(each.p_filesz);
    if (!file.read(each.p_offset, notes.data(), notes.size())) return Found::kDamage;
    build = build_in(notes);
  }
  return build.empty() ? Found::kNoBuild : Found::kBuild;
}

}  // namespace

Status check_file(const std::string& path) {
  const File file(path);
  const auto wrong = [&](const std::string& what) {
    return Status(StatusCode::kDevice, "the GPU side cannot be used: " + path + what);
  };
  if (!file.is_open()) return wrong(std::string(": ") + std::strerror(errno));
  std::string build;
  const Found found = find_build(file, build);
  if (found == Found::kDamage) return wrong(" is damaged: it is cut, or no library");
  if (build != THINWIRE_KERNELS_BUILD) return wrong(" is of another build of Thinwire");
  return {};
}

}  // namespace thinwire::kernels
