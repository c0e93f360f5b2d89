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
/** Maximum size of one answer: 1,000 VMs of a host with 30 columns each, for 168 hours, are 100 MB. */
export const MAX_BYTES = 128 * MIB;
/** Rows that an answer may have more than expected: measured meanwhile, or of a clock that was set. */
const SPARE_ROWS = 2;

/** What the answer describes. */
type AnswerScope = "host and VMs" | "host" | "VM";

/** Maximum sizes in bytes: of the names of the columns, with 200 each, and of a row, with 26 for each column. */
const PARTS: Readonly<
  Record<AnswerScope, { readonly legend: number; readonly row: number }>
> = {
  // 40,000 columns.
  "host and VMs": { legend: 8 * MIB, row: MIB },
  // 10,000 columns: 448 CPUs have 9,000.
  host: { legend: 2 * MIB, row: MIB / 4 },
  // 2,500 columns: 255 disks with 10 each.
  VM: { legend: MIB / 2, row: MIB / 16 },
};

/** Maximum size of an answer with this number of rows, in bytes. */
export function answerLimit(scope: AnswerScope, rows: number): number {
  const { legend, row } = PARTS[scope];
  return Math.min(MAX_BYTES, legend + (rows + SPARE_ROWS) * row);
}

/**
 * Bounds the memory of the answers that hosts are sending now. When they exceed the
 * limit together, the largest one is refused: hosts that send without end do not exclude others.
 */
export class AnswerMemory {
  readonly #limitBytes: number;
  readonly #open = new Set<OpenPart>();
  #bytes = 0;

  constructor(limitBytes: number = MAX_BYTES) {
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
