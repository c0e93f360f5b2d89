import { invalid, queryLimits } from "./request.js";

/** Texts of one answer, each growing piece by piece: no step copies much, and all of them have a bound. */
export class JsonTexts {
  #bytesLeft: number = queryLimits.columnBytes;

  /**
   * @param write pushes the pieces of one text
   * @throws XoError INVALID_PARAMETERS when the answer gets too large
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
          `the answer is larger than ${queryLimits.columnBytes >> 20} MiB: ask for less`,
        );
      pieces.push(piece);
    });
    return Buffer.concat(pieces);
  }
}
