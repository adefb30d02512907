/* Unpacks Zstandard data from standard input to standard output. It is linked statically and travels in the .run file, as
   a minimal system has no program for it. */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

int main(void) {
    const size_t in_size = ZSTD_DStreamInSize(), out_size = ZSTD_DStreamOutSize();
    void *const in_space = malloc(in_size), *const out_space = malloc(out_size);
    ZSTD_DStream *const stream = ZSTD_createDStream();
    size_t left = 0, count;
    if (!in_space || !out_space || !stream)
        return fail("not enough memory");
    while ((count = fread(in_space, 1, in_size, stdin)) > 0) {
        ZSTD_inBuffer in = {in_space, count, 0};
        size_t written = out_size;
        while (in.pos < in.size || written == out_size) {
            ZSTD_outBuffer out = {out_space, out_size, 0};
            left = ZSTD_decompressStream(stream, &out, &in);
            if (ZSTD_isError(left))
                return fail(ZSTD_getErrorName(left));
            written = out.pos;
            if (fwrite(out_space, 1, written, stdout) != written)
                return fail("cannot write");
            if (left == 0 && in.pos == in.size)
                break;
        }
    }
    if (ferror(stdin) || left != 0)
        return fail("the data ends too early");
    return fflush(stdout) ? fail("cannot write") : 0;
}
