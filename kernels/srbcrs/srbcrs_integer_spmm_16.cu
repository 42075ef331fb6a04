// srbcrs_integer_spmm_16.cu: the kernels of SpMM over strides whose A has 16 bits.
#include "kernels/srbcrs/srbcrs_integer_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

shunt_status launch_integers_16(const scaled_arguments &k, int bits_b,
                                const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                                cudaStream_t stream)
{
  if (bits_b == 16) return launch_shape<scaled_store, 16, 16>(k, s, d, stream);
  if (bits_b == 8) return launch_shape<scaled_store, 16, 8>(k, s, d, stream);
  if (bits_b == 4) return launch_shape<scaled_store, 16, 4>(k, s, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace srbcrs
} // namespace shunt
