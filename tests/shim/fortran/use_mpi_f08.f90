! Exchanges of two ranks by the module mpi_f08, here and there without the optional error: a line
! "PASS case" or "FAIL case" each.
program use_mpi_f08
  use mpi_f08
  implicit none
  integer, parameter :: n = 1000, rows = 40, columns = 30
  integer :: error, rank, other, bad

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  bad = 0
  call send_and_recv()
  call verdict('send_and_recv')
  call isend_and_irecv()
  call verdict('isend_and_irecv')
  call exchange()
  call verdict('sendrecv')
  call persistent()
  call verdict('persistent')
  call probed()
  call verdict('probed')
  call row_of_a_matrix()
  call verdict('row_of_a_matrix')
  call double_precision_values()
  call verdict('double_precision')
  call from_bottom()
  call verdict('from_bottom')
  call characters()
  call verdict('characters')
  call MPI_Finalize()

contains

  ! Of the case that has just run, of both ranks.
  subroutine verdict(name)
    character(len=*), intent(in) :: name
    integer :: total
    call MPI_Allreduce(bad, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == 0 .and. total == 0) print '(a, 1x, a)', 'PASS', name
    if (rank == 0 .and. total /= 0) print '(a, 1x, a)', 'FAIL', name
    bad = 0
  end subroutine

  subroutine expect(holds)
    logical, intent(in) :: holds
    if (.not. holds) bad = bad + 1
  end subroutine

  ! What rank `who` sends: no two elements are the same.
  subroutine fill(values, who)
    real, intent(out) :: values(:)
    integer, intent(in) :: who
    integer :: at
    values = [(real(4096 * (who + 1) + at), at = 1, size(values))]
  end subroutine

  logical function came_from(values, who)
    real, intent(in) :: values(:)
    integer, intent(in) :: who
    real :: wanted(size(values))
    call fill(wanted, who)
    came_from = all(values == wanted)
  end function

  logical function is_status(status, tag, count)
    type(MPI_Status), intent(in) :: status
    integer, intent(in) :: tag, count
    integer :: counted
    call MPI_Get_count(status, MPI_REAL, counted, error)
    is_status = status%MPI_SOURCE == other .and. status%MPI_TAG == tag .and. counted == count
  end function

  subroutine send_and_recv()
    real :: out(n), in(n)
    type(MPI_Status) :: status
    call fill(out, rank)
    if (rank == 0) call MPI_Send(out, n, MPI_REAL, other, 1, MPI_COMM_WORLD)
    call MPI_Recv(in, n, MPI_REAL, other, 1, MPI_COMM_WORLD, status, error)
    if (rank == 1) call MPI_Send(out, n, MPI_REAL, other, 1, MPI_COMM_WORLD)
    call expect(came_from(in, other) .and. is_status(status, 1, n))
  end subroutine

  subroutine isend_and_irecv()
    real, asynchronous :: out(n), in(n, 3)
    type(MPI_Request) :: requests(6)
    type(MPI_Status) :: statuses(6)
    integer :: at
    call fill(out, rank)
    do at = 1, 3
      call MPI_Irecv(in(:, at), n, MPI_REAL, other, at, MPI_COMM_WORLD, requests(at), error)
      call MPI_Isend(out, n, MPI_REAL, other, at, MPI_COMM_WORLD, requests(3 + at), error)
    end do
    call MPI_Waitall(6, requests, statuses, error)
    do at = 1, 3
      call expect(came_from(in(:, at), other) .and. is_status(statuses(at), at, n))
    end do
    do at = 1, 6
      call expect(requests(at) == MPI_REQUEST_NULL)
    end do
  end subroutine

  subroutine exchange()
    real :: out(n), in(n)
    call fill(out, rank)
    call MPI_Sendrecv(out, n, MPI_REAL, other, 2, in, n, MPI_REAL, other, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    call expect(came_from(in, other))
    call MPI_Sendrecv_replace(out, n, MPI_REAL, other, 3, other, 3, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE, error)
    call expect(came_from(out, other))
  end subroutine

  subroutine persistent()
    real, asynchronous :: out(n), in(n)
    type(MPI_Request) :: requests(2)
    integer :: round
    call MPI_Send_init(out, n, MPI_REAL, other, 4, MPI_COMM_WORLD, requests(1), error)
    call MPI_Recv_init(in, n, MPI_REAL, other, 4, MPI_COMM_WORLD, requests(2), error)
    do round = 1, 3
      call fill(out, rank + round)
      call MPI_Startall(2, requests, error)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call expect(came_from(in, other + round))
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  subroutine probed()
    real, asynchronous :: out(n)
    real :: in(n)
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    call fill(out, rank)
    call MPI_Isend(out, n - 1, MPI_REAL, other, 5, MPI_COMM_WORLD, request, error)
    call MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, error)
    call expect(is_status(status, 5, n - 1))
    call MPI_Get_count(status, MPI_REAL, count, error)
    call MPI_Recv(in, count, MPI_REAL, status%MPI_SOURCE, 5, MPI_COMM_WORLD, status, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(came_from(in(:n - 1), other) .and. is_status(status, 5, n - 1))
  end subroutine

  subroutine row_of_a_matrix()
    real :: out(rows, columns), in(rows, columns)
    type(MPI_Datatype) :: row
    call fill(out(1, :), rank)
    out(2:, :) = -1
    in = -2
    call MPI_Type_vector(columns, 1, rows, MPI_REAL, row, error)
    call MPI_Type_commit(row)
    call MPI_Sendrecv(out, 1, row, other, 6, in(3, 1), 1, row, other, 6, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    call MPI_Type_free(row)
    call expect(came_from(in(3, :), other))
    call expect(all(in(:2, :) == -2) .and. all(in(4:, :) == -2))
  end subroutine

  subroutine double_precision_values()
    double precision :: out(n), in(n)
    integer :: at
    out = [(1d0 / (at + n * rank), at = 1, n)]
    call MPI_Sendrecv(out, n, MPI_DOUBLE_PRECISION, other, 7, in, n, MPI_DOUBLE_PRECISION, &
                      other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect(all(in == [(1d0 / (at + n * other), at = 1, n)]))
  end subroutine

  ! Two arrays in one message, by their absolute addresses.
  subroutine from_bottom()
    real, target, save :: first(n), second(n)
    real :: in(2 * n)
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    type(MPI_Datatype) :: both
    type(MPI_Request) :: request
    call fill(first, rank)
    call fill(second, rank + 5)
    call MPI_Get_address(first, places(1), error)
    call MPI_Get_address(second, places(2), error)
    call MPI_Type_create_hindexed(2, [n, n], places, MPI_REAL, both, error)
    call MPI_Type_commit(both)
    call MPI_Irecv(in, 2 * n, MPI_REAL, other, 8, MPI_COMM_WORLD, request, error)
    call MPI_Send(MPI_BOTTOM, 1, both, other, 8, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Type_free(both)
    call expect(came_from(in(:n), other) .and. came_from(in(n + 1:), other + 5))
  end subroutine

  subroutine characters()
    character(len=300) :: out, in
    out = repeat(achar(iachar('a') + rank), 300)
    call MPI_Sendrecv(out, 300, MPI_CHARACTER, other, 9, in, 300, MPI_CHARACTER, other, 9, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call expect(in == repeat(achar(iachar('a') + other), 300))
  end subroutine
end program
