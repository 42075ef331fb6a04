"""pyg_client.py [--strict]: graph convolution of PyTorch Geometric on a CSR adjacency.

Two GCNConv layers, forward and backward, compared with the same layers on dense float64.
"""
import torch
from torch_geometric.nn import GCNConv

from client_checks import attempt, finish, report

DEVICE = "cuda"


def random_graph(nodes, degree, seed):
    """A symmetric 0/1 adjacency without loops, dense."""
    g = torch.Generator(device=DEVICE).manual_seed(seed)
    a = (torch.rand(nodes, nodes, device=DEVICE, generator=g) < degree / nodes / 2).float()
    return ((a + a.t()) > 0).float().fill_diagonal_(0)


def reference(adjacency, layers, x):
    """D^-1/2 (A + I) D^-1/2 X W' + b, twice, in float64."""
    a = adjacency.double() + torch.eye(adjacency.shape[0], device=DEVICE, dtype=torch.float64)
    d = a.sum(1).rsqrt()
    a = d[:, None] * a * d[None, :]
    h = x.double()
    for i, layer in enumerate(layers):
        h = a @ (h @ layer.lin.weight.double().t()) + layer.bias.double()
        h = torch.relu(h) if i == 0 else h
    return h


def network(nodes, degree, width):
    torch.manual_seed(4)
    adjacency = random_graph(nodes, degree, 3)
    layers = [GCNConv(64, width).to(DEVICE), GCNConv(width, 32).to(DEVICE)]
    x = torch.rand(nodes, 64, device=DEVICE) - 0.5
    a = adjacency.to_sparse_csr()
    for _ in range(3):
        y = layers[1](torch.relu(layers[0](x, a)), a)
    want = reference(adjacency, layers, x)
    error = float((y.detach().double() - want.detach()).abs().max())
    bound = 1e-5 * float(want.detach().abs().max())
    report(error <= bound,
           f"GCNConv, {nodes} nodes, degree {degree}: error {error:.2g} of {bound:.2g}")

    def backward():
        grads = torch.autograd.grad(y.sum(), [layer.lin.weight for layer in layers])
        want_grads = torch.autograd.grad(want.sum(), [layer.lin.weight for layer in layers])
        for i, (g, w) in enumerate(zip(grads, want_grads)):
            error = float((g.double() - w.double()).abs().max())
            report(error <= 1e-4 * float(w.abs().max()),
                   f"gradient of layer {i}: error {error:.2g}")

    attempt(f"backward, {nodes} nodes", backward, RuntimeError)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    attempt("small graph", lambda: network(512, 12, 48))
    attempt("larger graph", lambda: network(4000, 40, 128))
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
