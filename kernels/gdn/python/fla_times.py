"""Times FLA's chunk_gated_delta_rule on this machine's GPU, at the sizes of `gated-delta check`.

Prints a line `1 x 2048 0.132` for each size: sequences, tokens of each, the median of the milliseconds between two
events. A pause on the GPU before each run lets Python finish launching first, so that its own time is not measured.
Where torch, fla or a GPU is missing, says so in one line and ends with exit code 1.
"""

import functools
import statistics
import sys

SIZES = [(1, 2048), (1, 8192), (1, 32768), (4, 8192)]
KEY_HEADS, HEADS, WIDTH = 16, 32, 128
RUNS = 50


def main():
    try:
        import torch
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    except Exception as error:  # What is missing below them fails in ways of its own.
        sys.exit(f"{type(error).__name__}: {error}")
    if not torch.cuda.is_available():
        sys.exit("torch finds no GPU")
    note_versions(torch, chunk_gated_delta_rule)
    for count, tokens in SIZES:
        inputs = make_inputs(torch, chunk_gated_delta_rule, count, tokens)
        with torch.no_grad():
            run = functools.partial(chunk_gated_delta_rule, **inputs, output_final_state=True)
            median = median_of_runs(torch, run)
        print(f"{count} x {tokens} {median:.4f}", flush=True)


def shares_keys(rule):
    """Whether it takes fewer heads of keys than of values: older versions do not."""
    return "HV" in (rule.__doc__ or "")


def note_versions(torch, rule):
    import fla

    print(f"# flash-linear-attention {fla.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    if not shares_keys(rule):
        print(f"# this version has no shared heads: keys and queries were repeated to {HEADS} heads before")


def make_inputs(torch, rule, count, tokens):
    def normal(heads):
        return torch.randn(1, count * tokens, heads, WIDTH, device="cuda", dtype=torch.bfloat16)

    def gates():
        return torch.rand(1, count * tokens, HEADS, device="cuda")

    q, k = (torch.nn.functional.normalize(normal(KEY_HEADS), dim=-1) for _ in range(2))
    if not shares_keys(rule):
        q, k = (x.repeat_interleave(HEADS // KEY_HEADS, dim=2) for x in (q, k))
    starts = torch.arange(0, count * tokens + 1, tokens, device="cuda", dtype=torch.long)
    state = torch.zeros(count, HEADS, WIDTH, WIDTH, device="cuda")
    g = (0.9 + 0.1 * gates()).log()
    inputs = {"q": q, "k": k, "v": normal(HEADS), "g": g, "beta": gates().bfloat16(), "scale": 1.0}
    return inputs | {"initial_state": state, "cu_seqlens": starts}


def median_of_runs(torch, run):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(RUNS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(10_000_000)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


if __name__ == "__main__":
    main()
