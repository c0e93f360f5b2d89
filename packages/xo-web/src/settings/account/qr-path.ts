import { generate } from "lean-qr";

/** A QR code as a path of 1 x 1 squares, with the required quiet zone. */
export interface QrPath {
  /** Size in squares. */
  readonly size: number;
  readonly path: string;
}

const BORDER = 4;

/** @throws when the text does not fit into a code */
export function qrPath(text: string): QrPath {
  const code = generate(text);
  const runs: string[] = [];
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) {
      if (!code.get(x, y)) continue;
      let end = x;
      while (end < code.size && code.get(end, y)) end++;
      runs.push(`M${x + BORDER} ${y + BORDER}h${end - x}v1H${x + BORDER}z`);
      x = end;
    }
  return { size: code.size + 2 * BORDER, path: runs.join("") };
}
