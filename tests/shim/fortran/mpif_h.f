! Exchanges of two ranks by mpif.h: a line "PASS case" or "FAIL case" each.
      program mpif_h
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error
      common /state/ rank, other, bad
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      other = 1 - rank
      bad = 0
      call blocking
      call verdict('send_and_recv')
      call posted
      call verdict('isend_and_irecv')
      call exchanged
      call verdict('sendrecv')
      call started
      call verdict('persistent')
      call probed
      call verdict('probed')
      call strided
      call verdict('row_of_a_matrix')
      call doubles
      call verdict('double_precision')
      call bottom
      call verdict('from_bottom')
      call letters
      call verdict('characters')
      call MPI_FINALIZE(error)
      end

! Of the case that has just run, of both ranks.
      subroutine verdict(name)
      implicit none
      include 'mpif.h'
      character*(*) name
      integer rank, other, bad, error, total
      common /state/ rank, other, bad
      call MPI_ALLREDUCE(bad, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, error)
      if (rank .eq. 0 .and. total .eq. 0) print '(a, a)', 'PASS ', name
      if (rank .eq. 0 .and. total .ne. 0) print '(a, a)', 'FAIL ', name
      bad = 0
      end

! What rank `who` sends: no two elements are the same.
      subroutine fill(values, count, who)
      implicit none
      integer count, who, at
      real values(count)
      do at = 1, count
        values(at) = 4096 * (who + 1) + at
      end do
      end

! Notes what is not rank `who`'s.
      subroutine expect(values, count, who)
      implicit none
      integer count, who, at, rank, other, bad
      real values(count)
      common /state/ rank, other, bad
      do at = 1, count
        if (values(at) .ne. real(4096 * (who + 1) + at)) bad = bad + 1
      end do
      end

      subroutine expect_status(status, tag, count)
      implicit none
      include 'mpif.h'
      integer status(MPI_STATUS_SIZE), tag, count, counted, error
      integer rank, other, bad
      common /state/ rank, other, bad
      call MPI_GET_COUNT(status, MPI_REAL, counted, error)
      if (status(MPI_SOURCE) .ne. other) bad = bad + 1
      if (status(MPI_TAG) .ne. tag) bad = bad + 1
      if (counted .ne. count) bad = bad + 1
      end

      subroutine blocking
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, status(MPI_STATUS_SIZE)
      real out(1000), in(1000)
      common /state/ rank, other, bad
      call fill(out, 1000, rank)
      if (rank .eq. 0) call MPI_SEND(out, 1000, MPI_REAL, other, 1,
     &                               MPI_COMM_WORLD, error)
      call MPI_RECV(in, 1000, MPI_REAL, other, 1, MPI_COMM_WORLD,
     &              status, error)
      if (rank .eq. 1) call MPI_SEND(out, 1000, MPI_REAL, other, 1,
     &                               MPI_COMM_WORLD, error)
      call expect(in, 1000, other)
      call expect_status(status, 1, 1000)
      end

      subroutine posted
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, at
      integer requests(6), statuses(MPI_STATUS_SIZE, 6)
      real out(1000), in(1000, 3)
      common /state/ rank, other, bad
      call fill(out, 1000, rank)
      do at = 1, 3
        call MPI_IRECV(in(1, at), 1000, MPI_REAL, other, at,
     &                 MPI_COMM_WORLD, requests(at), error)
        call MPI_ISEND(out, 1000, MPI_REAL, other, at,
     &                 MPI_COMM_WORLD, requests(3 + at), error)
      end do
      call MPI_WAITALL(6, requests, statuses, error)
      do at = 1, 3
        call expect(in(1, at), 1000, other)
        call expect_status(statuses(1, at), at, 1000)
      end do
      end

      subroutine exchanged
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error
      real out(1000), in(1000)
      common /state/ rank, other, bad
      call fill(out, 1000, rank)
      call MPI_SENDRECV(out, 1000, MPI_REAL, other, 2, in, 1000,
     &                  MPI_REAL, other, 2, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, error)
      call expect(in, 1000, other)
      call MPI_SENDRECV_REPLACE(out, 1000, MPI_REAL, other, 3, other,
     &                          3, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     &                          error)
      call expect(out, 1000, other)
      end

      subroutine started
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, requests(2), round
      real out(1000), in(1000)
      common /state/ rank, other, bad
      call MPI_SEND_INIT(out, 1000, MPI_REAL, other, 4, MPI_COMM_WORLD,
     &                   requests(1), error)
      call MPI_RECV_INIT(in, 1000, MPI_REAL, other, 4, MPI_COMM_WORLD,
     &                   requests(2), error)
      do round = 1, 3
        call fill(out, 1000, rank + round)
        call MPI_STARTALL(2, requests, error)
        call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, error)
        call expect(in, 1000, other + round)
      end do
      call MPI_REQUEST_FREE(requests(1), error)
      call MPI_REQUEST_FREE(requests(2), error)
      end

      subroutine probed
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, request, count
      integer status(MPI_STATUS_SIZE)
      real out(1000), in(1000)
      common /state/ rank, other, bad
      call fill(out, 1000, rank)
      call MPI_ISEND(out, 999, MPI_REAL, other, 5, MPI_COMM_WORLD,
     &               request, error)
      call MPI_PROBE(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, error)
      call expect_status(status, 5, 999)
      call MPI_GET_COUNT(status, MPI_REAL, count, error)
      call MPI_RECV(in, count, MPI_REAL, status(MPI_SOURCE), 5,
     &              MPI_COMM_WORLD, status, error)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
      call expect(in, 999, other)
      call expect_status(status, 5, 999)
      end

      subroutine strided
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, row, at
      real out(40, 30), in(40, 30), values(30)
      common /state/ rank, other, bad
      call fill(values, 30, rank)
      call fill(in, 1200, 7)
      do at = 1, 30
        out(1, at) = values(at)
      end do
      call MPI_TYPE_VECTOR(30, 1, 40, MPI_REAL, row, error)
      call MPI_TYPE_COMMIT(row, error)
      call MPI_SENDRECV(out, 1, row, other, 6, in(3, 1), 1, row, other,
     &                  6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_TYPE_FREE(row, error)
      do at = 1, 30
        values(at) = in(3, at)
        in(3, at) = 4096 * 8 + 40 * (at - 1) + 3
      end do
      call expect(values, 30, other)
      call expect(in, 1200, 7)
      end

      subroutine doubles
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, at
      double precision out(1000), in(1000)
      common /state/ rank, other, bad
      do at = 1, 1000
        out(at) = 1d0 / (at + 1000 * rank)
      end do
      call MPI_SENDRECV(out, 1000, MPI_DOUBLE_PRECISION, other, 7, in,
     &                  1000, MPI_DOUBLE_PRECISION, other, 7,
     &                  MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      do at = 1, 1000
        if (in(at) .ne. 1d0 / (at + 1000 * other)) bad = bad + 1
      end do
      end

! Two arrays in one message, by their absolute addresses.
      subroutine bottom
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, both, request, lengths(2)
      integer (kind=MPI_ADDRESS_KIND) places(2)
      real first(1000), second(1000), in(2000)
      common /state/ rank, other, bad
      save first, second
      call fill(first, 1000, rank)
      call fill(second, 1000, rank + 5)
      call MPI_GET_ADDRESS(first, places(1), error)
      call MPI_GET_ADDRESS(second, places(2), error)
      lengths(1) = 1000
      lengths(2) = 1000
      call MPI_TYPE_CREATE_HINDEXED(2, lengths, places, MPI_REAL, both,
     &                              error)
      call MPI_TYPE_COMMIT(both, error)
      call MPI_IRECV(in, 2000, MPI_REAL, other, 8, MPI_COMM_WORLD,
     &               request, error)
      call MPI_SEND(MPI_BOTTOM, 1, both, other, 8, MPI_COMM_WORLD,
     &              error)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
      call MPI_TYPE_FREE(both, error)
      call expect(in, 1000, other)
      call expect(in(1001), 1000, other + 5)
      end

      subroutine letters
      implicit none
      include 'mpif.h'
      integer rank, other, bad, error, at
      character out(300), in(300)
      common /state/ rank, other, bad
      do at = 1, 300
        out(at) = char(ichar('a') + rank)
      end do
      call MPI_SENDRECV(out, 300, MPI_CHARACTER, other, 9, in, 300,
     &                  MPI_CHARACTER, other, 9, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, error)
      do at = 1, 300
        if (in(at) .ne. char(ichar('a') + other)) bad = bad + 1
      end do
      end
