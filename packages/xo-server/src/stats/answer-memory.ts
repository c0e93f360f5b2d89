import { XoError } from "@xo-server/model";

/** The part of one answer. */
export interface AnswerPart {
  /** Counts further bytes. @throws XoError ANSWER_TOO_LARGE */
  add(bytes: number): void;
  /** The answer has been received completely: it is not refused any more. */
  complete(): void;
  /** To be called when the answer has been decoded, or has failed. */
  release(): void;
}

interface OpenPart {
  readonly refuse: (error: XoError) => void;
  bytes: number;
  isComplete: boolean;
}

const MIB = 1024 * 1024;
/** Maximum size of one answer: 1,000 VMs of a host with 30 columns each, for 366 days, are 240 MB. */
export const MOST_BYTES = 256 * MIB;
/** Maximum of the legend: 40,000 columns with names of 200 bytes. */
const LEGEND_BYTES = 8 * MIB;
/** Maximum of a row: 40,000 columns, with up to 26 bytes each. */
const ROW_BYTES = MIB;
/** Rows that an answer may have more than expected: measured meanwhile, or of a clock that was set. */
const SPARE_ROWS = 2;

/** Maximum size of an answer with so many rows, in bytes. */
export function answerLimit(rows: number): number {
  return Math.min(MOST_BYTES, LEGEND_BYTES + (rows + SPARE_ROWS) * ROW_BYTES);
}

/**
 * Bounds the memory of the answers that hosts are sending now. When they exceed the
 * limit together, the largest one is refused: hosts that send without end do not exclude others.
 */
export class AnswerMemory {
  readonly #limitBytes: number;
  readonly #open = new Set<OpenPart>();
  #bytes = 0;

  constructor(limitBytes: number = MOST_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Size of all answers, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param limit maximum size of the answer, in bytes
   * @param refuse called once with ANSWER_TOO_LARGE if others need the memory: must stop receiving
   */
  open(limit: number, refuse: (error: XoError) => void): AnswerPart {
    const part: OpenPart = { bytes: 0, isComplete: false, refuse };
    this.#open.add(part);
    return {
      add: (bytes) => {
        if (!this.#open.has(part)) return;
        part.bytes += bytes;
        this.#bytes += bytes;
        if (part.bytes > limit) throw tooLarge(part.bytes, limit);
        if (this.#bytes > this.#limitBytes) this.#refuseLargest();
      },
      complete: () => {
        part.isComplete = true;
      },
      release: () => {
        this.#release(part);
      },
    };
  }

  #refuseLargest(): void {
    const largest = [...this.#open]
      .filter(({ isComplete }) => !isComplete)
      .reduce((one, other) => (other.bytes > one.bytes ? other : one));
    this.#release(largest);
    largest.refuse(tooLarge(largest.bytes, this.#limitBytes));
  }

  #release(part: OpenPart): void {
    if (this.#open.delete(part)) this.#bytes -= part.bytes;
  }
}

function tooLarge(bytes: number, limit: number): XoError {
  return new XoError("ANSWER_TOO_LARGE", { bytes, limit });
}
