// srbcrs_integer_spmm_12.cu: the kernels of SpMM over strides whose A has 12 bits.
#include "kernels/srbcrs/srbcrs_integer_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

shunt_status launch_integers_12(const scaled_arguments &k, int bits_b,
                                const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                                cudaStream_t stream)
{
  if (bits_b == 8) return launch_shape<scaled_store, 12, 8>(k, s, d, stream);
  if (bits_b == 4) return launch_shape<scaled_store, 12, 4>(k, s, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace srbcrs
} // namespace shunt
