import { invalid, queryLimits } from "./request.js";

/**
 * The JSON texts of one response, written in pieces: no step copies much, and
 * their total size is bounded.
 */
export class JsonTexts {
  #bytesLeft: number = queryLimits.columnBytes;

  /**
   * @param write pushes the pieces of one text
   * @throws XoError INVALID_PARAMETERS when the response exceeds the bound
   */
  *text(
    write: (push: (json: string) => void) => Generator<void, void, void>,
  ): Generator<void, Buffer, void> {
    const pieces: Buffer[] = [];
    yield* write((json) => {
      const piece = Buffer.from(json);
      this.#bytesLeft -= piece.length;
      if (this.#bytesLeft < 0)
        throw invalid(
          `the response is larger than ${queryLimits.columnBytes >> 20} MiB: request fewer objects or columns`,
        );
      pieces.push(piece);
    });
    return Buffer.concat(pieces);
  }
}
