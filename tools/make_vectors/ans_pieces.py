"""Payloads of version 2 of ans, whose chunks are cut into pieces: spec/codec-ans.md."""

from ans_planes import (
    LANES,
    LEAST,
    TOTAL,
    Model,
    filled_up,
    mask_model_of,
    model_of,
    planes_of,
    size_of,
    words_of,
)

PIECE_BYTES, PIECES, GROUP, OF_LANE = 8192, 4, 128, 4
LEAST_PAIRS = 1100


def cut(values: list[int] | bytes, size: int) -> list[list[int]]:
    return [list(values[at : at + size]) for at in range(0, len(values), size)]


class Piece:
    """The planes of one piece, and where its words are 0."""

    def __init__(self, values: list[int], bits: int, tuple_values: int) -> None:
        self.width = bits // 8
        words = words_of(values, bits, tuple_values)
        packed, kept, is_sparse = planes_of(words, self.width)
        self.is_sparse = is_sparse and 128 * (len(words) - kept) >= len(words)
        shifts = [8 * (self.width - 1 - plane) for plane in range(self.width)]
        self.all = [[word >> shift & 0xFF for word in words] for shift in shifts]
        self.planes = packed if self.is_sparse or not is_sparse else self.all
        self.kept = kept if self.is_sparse else len(words)
        self.size = len(words)
        self.words = words
        self.mask: list[int] | None = None
        self.quads = [
            sum((word != 0) << at for at, word in enumerate(four)) for four in cut(words, OF_LANE)
        ]
        # The place of each value's byte in planes but the first, None for one that has none.
        places = iter(range(self.size))
        there = [bool(top) or not self.is_sparse for top in self.planes[0]]
        self.places = [next(places) if is_there else None for is_there in there]

    def zeros_under_mask(self) -> int:
        """Words that a mask would take out, 0 if there may be none."""
        zeros, width = self.words.count(0), self.width
        return zeros if width > 1 and 4 * width * zeros >= self.size + 32 * width else 0

    def put_mask(self) -> None:
        """The piece as one of a chunk with masks."""
        self.is_sparse = self.zeros_under_mask() > 0
        self.planes, self.kept = self.all, self.size
        self.places = list(range(self.size))
        if self.is_sparse:
            self.mask = self.quads
            self.planes = [
                [byte for byte, word in zip(plane, self.words, strict=True) if word]
                for plane in self.all
            ]
            self.kept = len(self.planes[0])
            places = iter(range(self.size))
            self.places = [next(places) if word else None for word in self.words]

    def head(self, words: int, is_stored: bool) -> int:
        return words | is_stored << 15 | self.kept << 16 | self.is_sparse << 31

    def byte(self, plane: int, value: int) -> int | None:
        is_whole = plane == 0 and self.mask is None
        place = value if is_whole else self.places[value]
        return None if place is None else self.planes[plane][place]

    def coded(self, models: list[Model | None], quads: Model | None, lanes: list[int]) -> list[int]:
        """Moves the states; the words in a decoder's order."""
        mixed = [p for p, model in enumerate(models) if model and len(model[1]) > 1]
        words = []
        for group in reversed(range(0, self.size, GROUP)):
            for plane in reversed(mixed):
                for place in reversed(range(OF_LANE)):
                    for lane in reversed(range(LANES)):
                        value = group + OF_LANE * lane + place
                        byte = self.byte(plane, value) if value < self.size else None
                        if byte is not None:
                            self.take(models[plane][1], byte, lanes, lane, words)
            for lane in reversed(range(LANES)):
                if self.mask is not None and group + OF_LANE * lane < self.size:
                    quad = self.mask[group // OF_LANE + lane]
                    self.take(quads[1], quad, lanes, lane, words)
        return words[::-1]

    @staticmethod
    def take(
        frequencies: dict[int, int], byte: int, lanes: list[int], lane: int, words: list[int]
    ) -> None:
        frequency, state = frequencies[byte], lanes[lane]
        start = sum(other for lower, other in frequencies.items() if lower < byte)
        if state >= frequency << 20:
            words.append(state & 0xFFFF)
            state >>= 16
        lanes[lane] = TOTAL * (state // frequency) + state % frequency + start

    def payload(self, models: list[Model | None], quads: Model | None) -> tuple[int, bytes]:
        """Head and bytes."""
        mixed = [p for p, model in enumerate(models) if model and len(model[1]) > 1]
        room = sum(len(filled_up(bytes(self.planes[plane]))) for plane in mixed)
        stored = [bytes(plane) for p, plane in enumerate(self.planes) if not models[p]]
        mask = [] if self.mask is None else [bytes(self.mask)]
        room += sum(len(filled_up(part)) for part in mask)
        may_have_states = bool(mixed or mask)
        if may_have_states:
            lanes, bits = [LEAST] * LANES, None
            is_free = self.width > 1 and not self.is_sparse and self.size % GROUP == 0
            if is_free and not models[-1]:
                last = cut(stored[-1][-GROUP:], OF_LANE)
                given = [four[2] | four[3] << 8 for four in last]
                stored[-1] = stored[-1][:-GROUP] + b"".join(bytes(four[:2]) for four in last)
                lanes = [LEAST + number // 2 for number in given]
                bits = sum(number % 2 << lane for lane, number in enumerate(given))
            words = self.coded(models, quads, lanes)
            if 4 * LANES + 2 * len(words) <= room:
                parts = [filled_up(plane) for plane in stored]
                parts += [state.to_bytes(4, "little") for state in lanes]
                parts += [] if bits is None else [bits.to_bytes(4, "little")]
                parts += [bytes(2 * (len(words) % 2))]
                parts += [word.to_bytes(2, "little") for word in words]
                return self.head(len(words), False), b"".join(parts)
        stored = mask + [
            bytes(plane) for p, plane in enumerate(self.planes) if not models[p] or p in mixed
        ]
        return self.head(0, may_have_states), b"".join(filled_up(part) for part in stored)


def is_likely(pieces: list[Piece], plane: int) -> bool:
    """Whether a plane of a whole chunk is worth counting, by a group of each piece."""
    groups = pieces[0].size // GROUP
    sample = []
    for number, piece in enumerate(pieces):
        first = GROUP * (number * groups // PIECES + groups // (2 * PIECES))
        sample += piece.all[plane][first : first + GROUP]
    times = [sample.count(byte) for byte in set(sample)]
    return sum(many * (many - 1) for many in times) >= LEAST_PAIRS


def models_of(pieces: list[Piece]) -> tuple[list[Model | None], int]:
    """The models of the planes, and what these take."""
    width = pieces[0].width
    planes = [[byte for piece in pieces for byte in piece.planes[p]] for p in range(width)]
    is_whole = sum(piece.size for piece in pieces) * width == PIECES * PIECE_BYTES
    models = [
        model_of(plane) if not is_whole or is_likely(pieces, number) else None
        for number, plane in enumerate(planes)
    ]
    return models, sum(map(size_of, planes, models))


def payload(values: list[int], bits: int, tuple_values: int) -> bytes | None:
    """None if it is stored raw."""
    width = bits // 8

    def cut_pieces() -> list[Piece]:
        return [Piece(part, bits, tuple_values) for part in cut(values, PIECE_BYTES // width)]

    pieces, quads = cut_pieces(), None
    models, without = models_of(pieces)
    zeros = sum(piece.zeros_under_mask() for piece in pieces)
    if zeros > 0 and 64 * zeros >= len(values):
        masked = cut_pieces()
        for piece in masked:
            piece.put_mask()
        all_quads = [quad for piece in masked for quad in piece.quads]
        own_quads = mask_model_of(all_quads)
        own_models, planes = models_of(masked)
        if own_quads and 64 * (size_of(all_quads, own_quads) + planes) <= 63 * without:
            pieces, models, quads = masked, own_models, own_quads
    coded = sum(1 << plane for plane, model in enumerate(models) if model)
    coded += 1 << width if quads else 0
    tables = (quads[0] if quads else b"") + b"".join(model[0] for model in models if model)
    tables = filled_up(tables)
    heads, bodies = zip(*(piece.payload(models, quads) for piece in pieces), strict=True)
    front = b"".join(number.to_bytes(4, "little") for number in (coded, *heads))
    stream = front + tables + b"".join(bodies)
    return stream if len(stream) < len(values) * width else None
