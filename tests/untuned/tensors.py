"""Tensors of training and inference that need no training run: embeddings, weights, caches."""

import numpy as np
from training import bell, uniform


def embedding_gradients(seed: int, words: int, width: int, tokens: int) -> np.ndarray:
    """Rows of words that the batch does not have are zero; frequent words have sums of many."""
    random = np.random.default_rng(seed)
    # A word's rank has a chance of about 1 / rank.
    shares = np.cumsum(1 / np.arange(1, words + 1))
    chosen = np.searchsorted(shares / shares[-1], random.random(tokens))
    out = np.zeros((words, width), np.float32)
    columns = np.abs(bell(random, (width,), 1.0)) + np.float32(0.1)
    rows = bell(random, (tokens, width), 1e-4) * columns
    for word, row in zip(chosen, rows, strict=True):
        out[word] += row
    return out


def weights(seed: int, rows: int, columns: int) -> np.ndarray:
    """Nearly normal; every row has a scale of its own, some are outliers."""
    random = np.random.default_rng(seed)
    scale = np.float32(0.02) * (1 + np.abs(bell(random, (rows, 1), 0.5)))
    scale[random.integers(0, rows, rows // 64)] *= 8
    return bell(random, (rows, columns), 1.0) * scale


def pruned(values: np.ndarray, share: float) -> np.ndarray:
    """The smallest `share` of the values are zero."""
    least = np.partition(np.abs(values).reshape(-1), int(share * values.size))
    return np.where(np.abs(values) < least[int(share * values.size)], np.float32(0), values)


def pruned_two_of_four(values: np.ndarray) -> np.ndarray:
    """Of each four values the two smaller ones are zero."""
    fours = values.reshape(-1, 4)
    order = np.argsort(np.abs(fours), axis=1, kind="stable")
    out = fours.copy()
    np.put_along_axis(out, order[:, :2], 0, axis=1)
    return out.reshape(values.shape)


def dequantised(values: np.ndarray, levels: int, group: int) -> np.ndarray:
    """Rounded to `levels` on each side of zero, by a scale for each `group` values."""
    grouped = values.reshape(-1, group)
    scale = np.max(np.abs(grouped), axis=1, keepdims=True) / np.float32(levels)
    return (np.rint(grouped / scale) * scale).reshape(values.shape)


def cache(seed: int, heads: int, tokens: int, width: int) -> np.ndarray:
    """Keys and values: channels have means and scales of their own, a few far larger, and values
    of neighbouring tokens resemble each other."""
    random = np.random.default_rng(seed)
    out = np.empty((heads, tokens, width), np.float32)
    for head in range(heads):
        mean, scale = bell(random, (width,), 0.8), np.abs(bell(random, (width,), 0.5))
        large = random.integers(0, width, 3)
        mean[large] *= 12
        state = bell(random, (width,), 1.0)
        for token in range(tokens):
            state = np.float32(0.6) * state + bell(random, (width,), 0.8)
            out[head, token] = mean + scale * state
    return out


def activations(seed: int, tokens: int, width: int) -> np.ndarray:
    """Behind a smooth gate (x times x + 3 between 0 and 6, by 6): exact zeros below -3, and a
    hump of small negative values."""
    random = np.random.default_rng(seed)
    mean = bell(random, (width,), 1.0) - np.float32(0.5)
    values = bell(random, (tokens, width), 1.0) * (1 + np.abs(bell(random, (width,), 0.5))) + mean
    return values * np.clip(values + np.float32(3), 0, 6) / np.float32(6)


def mixture(seed: int, count: int) -> np.ndarray:
    """Experts' tokens: padded slots are zero, others uniform or nearly normal."""
    random = np.random.default_rng(seed)
    slots = count // 256
    rows = np.where(
        random.random((slots, 1)) < 0.5,
        uniform(random, (slots, 256), 2.0),
        bell(random, (slots, 256), 0.3),
    )
    used = (
        np.arange(slots) % 128 < random.integers(40, 128, slots // 128 + 1)[np.arange(slots) // 128]
    )
    return np.where(used[:, None], rows, np.float32(0))
