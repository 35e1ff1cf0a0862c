"""The exact seismograms of a point source in an unbounded uniform rock, with attenuation.

Aki and Richards (2002), chapter 4, in the frequency domain: velocities of P and S waves are complex
there, and of any dependence on the frequency. Lengths in metres, times in seconds.
"""

from dataclasses import dataclass

import numpy as np

MECHANISMS = 8


@dataclass
class Rock:
    density: float
    vp: float  # phase velocities at `hertz`
    vs: float
    qp: float
    qs: float
    hertz: float


def modulus(omega, velocity, quality, rock):
    """Of constant quality (Kjartansson 1979); an infinite one is elastic."""
    gamma = np.arctan(1 / quality) / np.pi
    reference = 2 * np.pi * rock.hertz
    slowed = velocity * np.cos(np.pi * gamma / 2)
    with np.errstate(divide="ignore"):
        return rock.density * slowed**2 * (1j * omega / reference) ** (2 * gamma)


def derivatives(k, r):
    """F = exp(-i k r) / r and its first three derivatives by r."""
    wave = np.exp(-1j * k * r)
    first = -1j * k - 1 / r
    f = wave / r
    f1 = f * first
    f2 = f1 * first + f / r**2
    f3 = f2 * first + 2 * f1 / r**2 - 2 * f / r**3
    return f, f1, f2, f3


def third(k, r, n):
    """d^3 F / dx_i dx_j dx_k."""
    _, f1, f2, f3 = derivatives(k, r)
    b = f2 / r - f1 / r**2
    a = f3 - 3 * b
    delta = np.eye(3)
    cubic = np.einsum("i,j,k->ijk", n, n, n)
    mixed = (
        np.einsum("ij,k->ijk", delta, n)
        + np.einsum("ik,j->ijk", delta, n)
        + np.einsum("jk,i->ijk", delta, n)
    )
    return a[:, None, None, None] * cubic + b[:, None, None, None] * mixed


def velocity(rock, tensor, rate, offset, dt):
    """[component][sample], of a moment tensor whose rate in time is `rate`, samples dt apart; at
    `offset` from the source. Row n is the time of rate[n]."""
    samples = 8 * len(rate)  # what comes later must not wrap around
    omega = 2 * np.pi * np.fft.rfftfreq(samples, dt)
    omega[0] = omega[1] / 100
    r = float(np.linalg.norm(offset))
    n = np.asarray(offset) / r
    kp = omega / np.sqrt(modulus(omega, rock.vp, rock.qp, rock) / rock.density)
    ks = omega / np.sqrt(modulus(omega, rock.vs, rock.qs, rock) / rock.density)
    # G_ij = (delta_ij ks^2 F_s + d_i d_j (F_s - F_p)) / (4 pi density omega^2)
    _, s1, _, _ = derivatives(ks, r)
    greens = third(ks, r, n) - third(kp, r, n)
    greens += (ks**2 * s1)[:, None, None, None] * np.einsum("ij,k->ijk", np.eye(3), n)
    # u_i = M_jk * d G_ij / d source_k, and the source's derivative is minus the receiver's.
    greens *= -1 / (4 * np.pi * rock.density * omega**2)[:, None, None, None]
    spectrum = np.fft.rfft(rate, samples)
    spectra = np.einsum("fijk,jk->if", greens, tensor) * spectrum
    return np.fft.irfft(spectra, samples)[:, : len(rate)]
