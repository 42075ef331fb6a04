// wgmma_lists.cuh: the 32, 64 or 128 sums of a product of a warpgroup, as inline
// assembly wants them: their numbers in the text, and operands from d[i] on.
#pragma once

// clang-format off
#define SHUNT_WGMMA_0_31 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SHUNT_WGMMA_32_63 \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
  "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SHUNT_WGMMA_64_127 \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, " \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, " \
  "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
  "%126, %127"
#define SHUNT_WGMMA_D8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
  "+f"(d[i + 6]), "+f"(d[i + 7])
#define SHUNT_WGMMA_D32(i) \
  SHUNT_WGMMA_D8(i), SHUNT_WGMMA_D8(i + 8), SHUNT_WGMMA_D8(i + 16), SHUNT_WGMMA_D8(i + 24)
#define SHUNT_WGMMA_D64(i) SHUNT_WGMMA_D32(i), SHUNT_WGMMA_D32(i + 32)
#define SHUNT_WGMMA_D128 SHUNT_WGMMA_D64(0), SHUNT_WGMMA_D64(64)
// The same for whole numbers.
#define SHUNT_WGMMA_I8(i) \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
  "+r"(d[i + 6]), "+r"(d[i + 7])
#define SHUNT_WGMMA_I32(i) \
  SHUNT_WGMMA_I8(i), SHUNT_WGMMA_I8(i + 8), SHUNT_WGMMA_I8(i + 16), SHUNT_WGMMA_I8(i + 24)
#define SHUNT_WGMMA_I64(i) SHUNT_WGMMA_I32(i), SHUNT_WGMMA_I32(i + 32)
#define SHUNT_WGMMA_I128 SHUNT_WGMMA_I64(0), SHUNT_WGMMA_I64(64)
// clang-format on
