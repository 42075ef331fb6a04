/* inspect_canvas.c: pixels, letters, and the file format PNG (ISO/IEC 15948).

   A PNG is a signature, then chunks of length, name, content and CRC-32; its rows of pixels are
   deflated, each behind the number of a filter, here 0, none.  */
#include "backend/tool/inspect/inspect_canvas.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

bool canvas_make(struct canvas *c, int width, int height)
{
  *c = (struct canvas){.width = width, .height = height};
  const size_t bytes = 3 * (size_t)width * (size_t)height;
  c->pixel = malloc(bytes);
  if (c->pixel) memset(c->pixel, 255, bytes);
  return c->pixel != NULL;
}

void canvas_free(struct canvas *c)
{
  free(c->pixel);
  c->pixel = NULL;
}

/* ---- areas ---------------------------------------------------------------------------------- */

static int within(int x, int end)
{
  return x < 0 ? 0 : x > end ? end : x;
}

void canvas_fill(struct canvas *c, int x, int y, int right, int bottom, const char *colour,
                 double opacity)
{
  const unsigned long rgb = strtoul(colour + 1, NULL, 16);
  const int first = within(x, c->width), end = within(right, c->width);
  for (int row = within(y, c->height); row < within(bottom, c->height); row++)
    for (int column = first; column < end; column++) {
      uint8_t *p = c->pixel + 3 * ((size_t)row * (size_t)c->width + (size_t)column);
      for (int k = 0; k < 3; k++) {
        const double ink = (double)(rgb >> (16 - 8 * k) & 255);
        p[k] = (uint8_t)(opacity * ink + (1 - opacity) * p[k] + 0.5);
      }
    }
}

void canvas_frame(struct canvas *c, int x, int y, int right, int bottom, const char *colour)
{
  canvas_fill(c, x, y, right, y + 1, colour, 1);
  canvas_fill(c, x, bottom - 1, right, bottom, colour, 1);
  canvas_fill(c, x, y, x + 1, bottom, colour, 1);
  canvas_fill(c, right - 1, y, right, bottom, colour, 1);
}

/* ---- letters -------------------------------------------------------------------------------- */

enum { LETTER_WIDE = 5, LETTER_HIGH = 7, FIRST_LETTER = '!', LAST_LETTER = '~' };

/* From '!' on: rows from the top, five bits each, the leftmost dot highest. */
static const uint64_t letters[LAST_LETTER - FIRST_LETTER + 1] = {
    0x108421004, 0x294a00000, 0x295f57d4a, 0x11f4717c4, 0x672222273, 0x32544564d, 0x108400000,
    0x088842082, 0x208210888, 0x009575480, 0x0084f9080, 0x000003088, 0x0000f8000, 0x00000018c,
    0x002222200, 0x3a33ae62e, 0x11842108e, 0x3a211111f, 0x7c441062e, 0x08ca97c42, 0x7e1e0862e,
    0x1910f462e, 0x7c2222108, 0x3a317462e, 0x3a317844c, 0x018c03180, 0x018c03088, 0x088882082,
    0x001f07c00, 0x208208888, 0x3a2111004, 0x3a216d6ae, 0x3a318fe31, 0x7a31f463e, 0x3a308422e,
    0x72518c65c, 0x7e10f421f, 0x7e10f4210, 0x3a30bc62f, 0x4631fc631, 0x38842108e, 0x1c4210a4c,
    0x4654c5251, 0x42108421f, 0x4775ac631, 0x4639ace31, 0x3a318c62e, 0x7a31f4210, 0x3a318d64d,
    0x7a31f5251, 0x3e107043e, 0x7c8421084, 0x46318c62e, 0x46318c544, 0x4631ad6aa, 0x462a22a31,
    0x463151084, 0x7c222221f, 0x39084210e, 0x020820820, 0x38421084e, 0x115100000, 0x00000001f,
    0x208200000, 0x000e0be2f, 0x4216cc63e, 0x000e8422e, 0x042d9c62f, 0x000e8fe0e, 0x1928e2108,
    0x01f18bc2e, 0x4216cc631, 0x100c2108e, 0x080610a4c, 0x4212a6292, 0x30842108e, 0x001aad631,
    0x0016cc631, 0x000e8c62e, 0x001e8fa10, 0x000d9bc21, 0x0016cc210, 0x000e8383e, 0x211c42126,
    0x00118c66d, 0x00118c544, 0x00118d6aa, 0x001151151, 0x00118bc2e, 0x001f1111f, 0x088441082,
    0x108421084, 0x208411088, 0x0008a8800};
static const uint64_t box = 0x7e318c63f;

static void put_letter(struct canvas *c, int x, int y, int dot, const char *colour, uint64_t dots)
{
  for (int row = 0; row < LETTER_HIGH; row++)
    for (int column = 0; column < LETTER_WIDE; column++) {
      const int left = x + dot * column, top = y - dot * (LETTER_HIGH - row);
      if (dots >> (LETTER_WIDE * (LETTER_HIGH - row) - 1 - column) & 1)
        canvas_fill(c, left, top, left + dot, top + dot, colour, 1);
    }
}

/* A byte of a letter in UTF-8 behind its first one. */
static bool continues(char byte)
{
  return ((unsigned char)byte & 0xc0) == 0x80;
}

int canvas_text_width(int dot, const char *text)
{
  int n = 0;
  for (; *text; text++) n += !continues(*text);
  return n * dot * (LETTER_WIDE + 1);
}

void canvas_text(struct canvas *c, int x, int y, int dot, const char *colour, const char *text)
{
  for (; *text; text++) {
    if (continues(*text)) continue;
    if (*text >= FIRST_LETTER && *text <= LAST_LETTER)
      put_letter(c, x, y, dot, colour, letters[*text - FIRST_LETTER]);
    else if (*text != ' ')
      put_letter(c, x, y, dot, colour, box);
    x += dot * (LETTER_WIDE + 1);
  }
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static void put_big_endian(uint8_t out[4], uint32_t n)
{
  for (int k = 0; k < 4; k++) out[k] = (uint8_t)(n >> (24 - 8 * k));
}

static bool put_chunk(FILE *f, const char name[4], const uint8_t *content, size_t bytes)
{
  uint8_t length[4], check[4];
  uLong sum = crc32(0, (const Bytef *)name, 4);
  if (bytes) sum = crc32(sum, content, (uInt)bytes); /* NULL would start anew */
  put_big_endian(length, (uint32_t)bytes);
  put_big_endian(check, (uint32_t)sum);
  return fwrite(length, 1, 4, f) == 4 && fwrite(name, 1, 4, f) == 4 &&
         (bytes == 0 || fwrite(content, 1, bytes, f) == bytes) && fwrite(check, 1, 4, f) == 4;
}

/* The rows, each behind a zero byte, deflated; the caller's to free, or NULL. */
static uint8_t *deflated(const struct canvas *c, uLongf *bytes)
{
  const size_t row = 3 * (size_t)c->width, all = (row + 1) * (size_t)c->height;
  uint8_t *rows = calloc(all, 1), *out = malloc(*bytes = compressBound(all));
  bool good = rows && out;
  for (int y = 0; good && y < c->height; y++)
    memcpy(rows + (size_t)y * (row + 1) + 1, c->pixel + (size_t)y * row, row);
  good = good && compress2(out, bytes, rows, all, Z_BEST_COMPRESSION) == Z_OK;
  free(rows);
  if (good) return out;
  free(out);
  return NULL;
}

bool canvas_write_png(const struct canvas *c, FILE *f)
{
  static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  uint8_t head[13] = {[8] = 8, [9] = 2}; /* 8 bits of each of three colours */
  uLongf bytes;
  uint8_t *data = deflated(c, &bytes);
  put_big_endian(head, (uint32_t)c->width);
  put_big_endian(head + 4, (uint32_t)c->height);
  const bool good = data && fwrite(signature, 1, sizeof signature, f) == sizeof signature &&
                    put_chunk(f, "IHDR", head, sizeof head) && put_chunk(f, "IDAT", data, bytes) &&
                    put_chunk(f, "IEND", NULL, 0);
  free(data);
  return good;
}
