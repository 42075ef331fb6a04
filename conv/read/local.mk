# conv/read: matrix files -> CSR.
CONV_READ_HOST = %D%/entries.c %D%/matrix.c %D%/matrix_market.c %D%/read_matrix.c %D%/scanner.c \
  %D%/smtx.c
