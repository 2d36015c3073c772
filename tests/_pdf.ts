// PDF files for tests, written here: text in Helvetica, a page for each list of lines.

/** A line of a page. */
export interface TestPdfLine {
  readonly text: string;
  /** Of its letters, in points. Default 10. */
  readonly size?: number;
  /** Room above it, in lines. Default 1. */
  readonly room?: number;
}

/** A PDF of these pages. */
export function testPdf(
  pages: readonly (readonly (string | TestPdfLine)[])[],
  options: {
    /** Nobody has the password: that of the file is none that its own word allows. */
    readonly encrypted?: boolean;
  } = {},
): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const junk = `<${"a5".repeat(32)}>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...pages.flatMap((lines, index) => {
      const content = contentOf(lines);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + 2 * index} 0 R ` +
        "/Resources << /Font << /F1 3 0 R >> >> >>",
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
    ...(options.encrypted ? [`<< /Filter /Standard /V 1 /R 2 /O ${junk} /U ${junk} /P -44 >>`] : []),
  ];
  const lock = options.encrypted ? `/Encrypt ${objects.length} 0 R /ID [<00> <00>] ` : "";
  return latin1(withTable(objects, lock));
}

function withTable(objects: readonly string[], trailer: string): string {
  const starts: number[] = [];
  let text = "%PDF-1.4\n";
  for (const [index, object] of objects.entries()) {
    starts.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}` +
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${text.length}\n%%EOF\n`;
}

function contentOf(lines: readonly (string | TestPdfLine)[]): string {
  let y = 800;
  const drawn = lines.map((line) => {
    const { text, size = 10, room = 1 } = typeof line === "string" ? { text: line } : line;
    y -= 1.2 * size * room;
    const escaped = text.replaceAll(/[\\()]/g, "\\$&");
    return `BT /F1 ${size} Tf 1 0 0 1 50 ${y.toFixed(1)} Tm (${escaped}) Tj ET`;
  });
  return drawn.join("\n");
}

function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
