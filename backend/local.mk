# backend: it decides and never computes.
include %D%/options/local.mk
include %D%/plan/local.mk
include %D%/costs/local.mk
include %D%/routes/local.mk
include %D%/cublas/local.mk
include %D%/loader/local.mk
include %D%/cusparse/local.mk
include %D%/graphblas/local.mk
include %D%/native/local.mk
include %D%/tool/local.mk
include %D%/packaging/local.mk
