"""try_kernel.py NAME: starts the Jupyter kernel NAME as notebooks do, by its kernelspec, and runs a
cell.

The cell prints the libraries of Shunt's that the kernel has mapped, one a line; it is a failure if
it prints nothing.  Needs jupyter_client and ipykernel.
"""
import sys

from jupyter_client.manager import KernelManager

CELL = """
import re
for name in sorted(set(re.findall(r"/lib/shunt/(\\S+)", open("/proc/self/maps").read()))):
    print(name)
"""
PATIENCE = 600  # seconds, on a busy machine

printed = []


def take(message):
    if message["msg_type"] == "stream":
        printed.append(message["content"]["text"])


manager = KernelManager(kernel_name=sys.argv[1])
manager.start_kernel()
client = manager.client()
try:
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    reply = client.execute_interactive(CELL, timeout=PATIENCE, output_hook=take)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
print("".join(printed), end="")
sys.exit(reply["content"]["status"] != "ok" or not printed)
