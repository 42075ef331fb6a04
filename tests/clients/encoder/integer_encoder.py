"""integer_encoder.py: a sparse transformer encoder layer whose attention runs by libshunt's C API,
in fp16 and in the integer schemes, beside PyTorch's attention in the same layer.

  x + O W of sparse attention over the normed x, then + the two linear layers of the normed sum,
  GELU between them; a pattern of 8 x 1 vectors, half a band along the diagonal, half random.

  integer_encoder.py LIBSHUNT_SO           sequences 4096 and 8192, 4 and 8 heads of 64, batches of
                                           2 and 8, 0.9 and 0.95 of the pairs left out; needs torch
                                           and a GPU
  integer_encoder.py LIBSHUNT_SO --host    one small layer by the host engine; needs neither
     --sequence N --heads N --batch N --sparsity X    one case of these

A line for each scheme: device time of the layer and of its attention, in milliseconds (graphs of 3
calls); memory beyond x and the layer's weights, in MB; errors beside float64 of the attention and
of the layer, relative, root mean square over all elements.  The exit status is 1 where an error is
beyond its bound.
"""
import argparse
import sys

import libshunt

# Of the attention; what rounding to these bits may leave (tests/bench/integers.md).
BOUNDS = {"fp16": 2e-3, "fp16 trio": 2e-3, "16b-8b": 0.04, "12b-8b": 0.04, "8b-8b": 0.06,
          "8b-4b": 0.6, "8b-f16": 0.04, "8b-e4m3": 0.06}


class Case:
    group = 8

    def __init__(self, sequence, heads, batch, sparsity, size):
        self.sequence, self.heads, self.batch = sequence, heads, batch
        self.sparsity, self.size = sparsity, size

    def __str__(self):
        return f"{self.sequence}\t{self.heads}\t{self.batch}\t{self.sparsity:g}"


def run_on_host(lib, given):
    import host_layer
    case = Case(given.sequence or 128, given.heads or 2, 1, given.sparsity or 0.5, 16)
    good = True
    print("# sequence\theads\tbatch\tsparsity\tscheme\tMB\tattention's error\tlayer's error")
    for scheme, memory, of_attention, of_layer in host_layer.run_case(lib, case, libshunt.SCHEMES):
        print(f"{case}\t{scheme}\t{memory / 1e6:.2f}\t{of_attention:.2g}\t{of_layer:.2g}",
              flush=True)
        good &= of_attention < BOUNDS[scheme]
    return good


def run_on_gpu(lib, given):
    import gpu_layer
    cases = [Case(sequence, heads, batch, sparsity, 64)
             for sequence in ([given.sequence] if given.sequence else [4096, 8192])
             for heads in ([given.heads] if given.heads else [4, 8])
             for batch in ([given.batch] if given.batch else [2, 8])
             for sparsity in ([given.sparsity] if given.sparsity else [0.9, 0.95])]
    good = True
    print("# sequence\theads\tbatch\tsparsity\tscheme\tlayer, ms\tattention, ms\tMB\t"
          "attention's error\tlayer's error")
    for case in cases:
        for row in gpu_layer.run_case(lib, case, libshunt.SCHEMES):
            print(f"{case}\t{row.scheme}\t{row.layer_ms:.3f}\t{row.attention_ms:.3f}\t"
                  f"{row.mb:.1f}\t{row.of_attention:.2g}\t{row.of_layer:.2g}", flush=True)
            if row.scheme in BOUNDS:  # all pairs have no error: NaN
                good &= row.of_attention < BOUNDS[row.scheme]
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("library")
    parser.add_argument("--host", action="store_true")
    for name, kind in (("sequence", int), ("heads", int), ("batch", int), ("sparsity", float)):
        parser.add_argument(f"--{name}", type=kind)
    given = parser.parse_args()
    run = run_on_host if given.host else run_on_gpu
    return 0 if run(libshunt.bind(given.library), given) else 1


if __name__ == "__main__":
    sys.exit(main())
