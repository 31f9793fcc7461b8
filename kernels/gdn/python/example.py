"""Calls the kernels on NumPy's arrays through files, and compares with the recurrence in NumPy.

    python3 example.py path/to/gated-delta path/to/gdn.ptx [--on gpu]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def gated_delta_rule(q, k, v, g, beta, state):
    """One token after another: q, k [tokens, key_heads, dk], v [tokens, heads, dv], state [heads, dv, dk]."""
    state, y = state.astype(np.float64), np.empty(v.shape)
    q, k = (np.repeat(x, v.shape[1] // x.shape[1], axis=1) for x in (q, k))
    for t in range(len(q)):
        state = g[t, :, None, None] * state
        delta = beta[t, :, None] * (v[t] - np.einsum("hvk,hk->hv", state, k[t]))
        state = state + delta[:, :, None] * k[t][:, None, :]
        y[t] = np.einsum("hvk,hk->hv", state, q[t])
    return y, state


program, ptx, *options = sys.argv[1:]
random = np.random.default_rng(1)
tokens, key_heads, heads, dk, dv = 70, 1, 2, 32, 16
q, k = (random.standard_normal((tokens, key_heads, dk), np.float32) for _ in range(2))
q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
v, state = random.standard_normal((tokens, heads, dv), np.float32), random.standard_normal((heads, dv, dk), np.float32)
g, beta = random.uniform(0.9, 1, (tokens, heads)).astype("f4"), random.uniform(0, 1, (tokens, heads)).astype("f4")

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    command = [program, "run", "--ptx", ptx, *options]
    for key, array in {"q": q, "k": k, "v": v, "g": g, "beta": beta, "state": state[None]}.items():
        np.save(folder / f"{key}.npy", array)
        command += [f"--{key}", folder / f"{key}.npy"]
    subprocess.run([*command, "--out-y", folder / "y.npy", "--out-state", folder / "after.npy"], check=True)
    results = np.load(folder / "y.npy"), np.load(folder / "after.npy")[0]

for name, found, wanted in zip(["y", "state"], results, gated_delta_rule(q, k, v, g, beta, state)):
    error = np.abs(found - wanted).max()
    print(f"{name}: shape {found.shape}, largest error {error:.1e}")
    assert error < 1e-5
