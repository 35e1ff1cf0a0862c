// A file that nobody else sees, in TMPDIR: room for what the system has no memory to promise.
#pragma once

#include <cstdint>

namespace thinwire::mpi {

class UnlinkedFile {
 public:
  // Takes the file's blocks now: a disk that is full later would end a process that has it mapped.
  // Check with `operator bool`.
  explicit UnlinkedFile(std::uint64_t bytes);
  ~UnlinkedFile();
  UnlinkedFile(const UnlinkedFile&) = delete;
  UnlinkedFile& operator=(const UnlinkedFile&) = delete;
  explicit operator bool() const { return file_ >= 0; }

  // All of it, shared, also when this is gone; nullptr if there are no addresses for it.
  void* map() const;

  bool write(std::uint64_t offset, std::uint64_t bytes, const void* from) const;
  bool read(std::uint64_t offset, std::uint64_t bytes, void* to) const;

 private:
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace thinwire::mpi
