// srbcrs_integer_spmm_8.cu: the kernels of SpMM over strides whose A has 8 bits, signed or not.
#include "kernels/srbcrs/srbcrs_integer_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

static shunt_status launch_unsigned(const scaled_arguments &k, int bits_b,
                                    const struct shunt_srbcrs_shape *s,
                                    const struct shunt_device *d, cudaStream_t stream)
{
  if (bits_b == 8) return launch_shape<scaled_store, 8, 8, false>(k, s, d, stream);
  if (bits_b == 4) return launch_shape<scaled_store, 8, 4, false>(k, s, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

shunt_status launch_integers_8(const scaled_arguments &k, int bits_b,
                               const struct shunt_srbcrs_shape *s, const struct shunt_device *d,
                               cudaStream_t stream)
{
  if (k.v.value_type == SHUNT_U8) return launch_unsigned(k, bits_b, s, d, stream);
  if (bits_b == 8) return launch_shape<scaled_store, 8, 8>(k, s, d, stream);
  if (bits_b == 4) return launch_shape<scaled_store, 8, 4>(k, s, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace srbcrs
} // namespace shunt
