/* report_pieces.c: escaped text, cells and tables of the page. */
#include "backend/tool/report/report_page.h"

void run_report_text(FILE *to, const char *text)
{
  for (; *text; text++) switch (*text) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc(*text, to);
    }
}

const char *page_gain(double saved, int64_t unknown, int64_t calls, char text[24])
{
  return calls > 0 && unknown == calls ? "unknown" : tool_duration(saved, text);
}

void page_count(FILE *to, const char *name, int64_t n)
{
  char text[32];
  fprintf(to, "<td class=\"n\" data-name=\"%s\">%s</td>", name, tool_grouped(n, text));
}

void page_bar(FILE *to, double part, bool left)
{
  fprintf(to, "<td class=\"meter\"><span class=\"bar%s\" style=\"width:%.1f%%\"></span></td>",
          left ? " left" : "",
          part > 1    ? 100.0
          : part >= 0 ? 100 * part
                      : 0);
}

void page_table(FILE *to, const char *caption, const char *const *heads)
{
  fputs("<table>\n", to);
  if (caption) fprintf(to, "<caption>%s</caption>\n", caption);
  fputs("<thead><tr>", to);
  for (; *heads; heads++) {
    const bool number = **heads == '#';
    fprintf(to, "<th scope=\"col\"%s>%s</th>", number ? " class=\"n\"" : "", *heads + number);
  }
  fputs("</tr></thead>\n<tbody>\n", to);
}

void page_table_end(FILE *to)
{
  fputs("</tbody>\n</table>\n", to);
}
