"""gpu_layer.py: the encoder layer in PyTorch, fp16, on a GPU: its attention by libshunt on the
device, or by PyTorch: scaled_dot_product_attention on all pairs (another result: no errors), the
same with the pattern as a mask, and FlexAttention with the pattern as its block mask."""
import ctypes as c
import sys

import torch
import torch.nn.functional as f

import libshunt
from gpu_measures import DEVICE, csr_of, graph_ms, make_mask, peak_mb

NAN = float("nan")


class Row:
    def __init__(self, scheme, layer_ms, attention_ms, mb, of_attention, of_layer):
        self.scheme, self.layer_ms, self.attention_ms, self.mb = scheme, layer_ms, attention_ms, mb
        self.of_attention, self.of_layer = of_attention, of_layer


class Layer:
    """Weights, and x; made in float64 and rounded to fp16."""

    def __init__(self, case):
        torch.manual_seed(case.sequence)
        width = case.heads * case.size
        self.case, self.width = case, width
        self.x = torch.randn(case.batch, case.sequence, width, device=DEVICE).half()
        shapes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
        self.weights = [(torch.randn(*s, device=DEVICE) * s[0]**-0.5).half() for s in shapes]

    def qkv(self, x, weights):
        return f.layer_norm(x, (self.width,)) @ weights[0]

    def rest(self, x, attended, weights):
        y = x + attended @ weights[1]
        return y + f.gelu(f.layer_norm(y, (self.width,)) @ weights[2]) @ weights[3]

    def exact(self, mask):
        """Of the first batch, in float64: attention over fp16's Q, K and V, and the layer."""
        case = self.case
        weights = [w.double() for w in self.weights]
        hidden = ~mask.repeat_interleave(case.group, 0)

        def attend(qkv):
            heads = qkv.double().view(case.sequence, 3, case.heads, case.size)
            out = torch.empty(case.sequence, self.width, dtype=torch.float64, device=DEVICE)
            for h in range(case.heads):
                q, k, v = (heads[:, n, h] for n in range(3))
                scores = (q @ k.T * case.size**-0.5).masked_fill_(hidden, float("-inf"))
                out[:, h * case.size:(h + 1) * case.size] = torch.softmax(scores, -1) @ v
            return out

        attended = attend(self.qkv(self.x, self.weights)[0])
        x = self.x[0].double()
        return attended, self.rest(x, attend(self.qkv(x, weights)), weights)


def error_of(got, want):
    return float(((got.double() - want)**2).sum().sqrt() / (want**2).sum().sqrt())


def measure(scheme, layer, attend, exact, kept_bytes=0):
    """attend(qkv) gives what the heads attended to, [batch][sequence][width]."""
    qkv = layer.qkv(layer.x, layer.weights)

    def whole():
        return layer.rest(layer.x, attend(layer.qkv(layer.x, layer.weights)), layer.weights)

    errors = (NAN, NAN) if exact is None else (error_of(attend(qkv)[0], exact[0]),
                                               error_of(whole()[0], exact[1]))
    mb = peak_mb(whole) + kept_bytes / 1e6
    return Row(scheme, graph_ms(whole, 3), graph_ms(lambda: attend(qkv), 3), mb, *errors)


def by_libshunt(lib, scheme, layer, pattern, exact):
    """Q, K and V are read where the projection leaves them."""
    case, width = layer.case, layer.width

    def tensor(at, columns):
        return libshunt.Tensor(at, libshunt.F16, case.batch, case.heads, case.sequence, case.size,
                               columns, case.size, case.sequence * columns)

    def tensors_of(qkv, out):
        return [tensor(qkv.data_ptr() + 2 * n * width, 3 * width) for n in range(3)] + [
            tensor(out.data_ptr(), width)]

    qkv, out = layer.qkv(layer.x, layer.weights), torch.empty_like(layer.x)
    attention = libshunt.Attention(lib, scheme, pattern, libshunt.ON_DEVICE, tensors_of(qkv, out),
                                   case.size**-0.5)
    workspace = torch.empty(attention.workspace + 256, dtype=torch.uint8, device=DEVICE)
    aligned = (workspace.data_ptr() + 255) // 256 * 256

    def attend(qkv):
        made = torch.empty_like(layer.x)
        attention.tensors = tensors_of(qkv, made)
        attention.run(aligned, c.c_void_p(torch.cuda.current_stream().cuda_stream))
        return made

    row = measure(scheme, layer, attend, exact, attention.bytes + attention.workspace)
    torch.cuda.synchronize()
    attention.free()
    return row


def by_torch(layer, function):
    case = layer.case

    def attend(qkv):
        split = qkv.view(case.batch, case.sequence, 3, case.heads, case.size)
        q, k, v = (split[:, :, n].transpose(1, 2) for n in range(3))
        return function(q, k, v).transpose(1, 2).reshape(layer.x.shape)

    return attend


def flex_function(case, mask):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    length = case.sequence
    blocks = create_block_mask(lambda b, h, i, j: mask[i // case.group, j], None, None, length,
                               length, device=DEVICE)
    torch._dynamo.reset()  # after eight shapes of one function it would no longer compile
    compiled = torch.compile(flex_attention, dynamic=False)
    return lambda q, k, v: compiled(q, k, v, block_mask=blocks)


def run_case(lib, case, schemes):
    layer, mask = Layer(case), make_mask(case.sequence, 1 - case.sparsity, case.group)
    pattern, arrays = csr_of(mask, case.group)
    torch.cuda.synchronize()
    exact = layer.exact(mask)
    for scheme in schemes:
        yield by_libshunt(lib, scheme, layer, pattern, exact)
    del arrays
    sdpa = f.scaled_dot_product_attention
    yield measure("SDPA, all pairs", layer, by_torch(layer, sdpa), None)
    allowed = mask.repeat_interleave(case.group, 0)
    masked = by_torch(layer, lambda q, k, v: sdpa(q, k, v, attn_mask=allowed))
    yield measure("SDPA, masked", layer, masked, exact)
    try:
        yield measure("FlexAttention", layer, by_torch(layer, flex_function(case, mask)), exact)
    except Exception as reason:  # a PyTorch without it, or without a compiler
        print(f"# FlexAttention: {reason}", file=sys.stderr)
