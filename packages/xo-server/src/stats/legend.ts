import type { Steps } from "@xo-server/inventory";

/** What of one object is measured, and in which columns. */
export interface Measured {
  readonly type: "host" | "vm" | "sr";
  readonly names: readonly string[];
  /** As many as names. */
  readonly columns: readonly number[];
}

/** Whose the columns of an answer are: by uuid. */
export class Legend {
  readonly key: string;
  readonly #measured = new Map<string, Mutable>();

  constructor(key: string) {
    this.key = key;
  }

  of(uuid: string): Measured | undefined {
    return this.#measured.get(uuid);
  }

  get uuids(): Iterable<string> {
    return this.#measured.keys();
  }

  /** @param entry such as `AVERAGE:vm:<uuid>:memory` */
  add(entry: string, column: number): void {
    const [, type, uuid, name] = ENTRY.exec(entry) ?? [];
    if (type === undefined) return;
    let measured = this.#measured.get(uuid!);
    if (measured === undefined) {
      measured = { type: type as Measured["type"], names: [], columns: [] };
      this.#measured.set(uuid!, measured);
    }
    measured.names.push(name!);
    measured.columns.push(column);
  }
}

interface Mutable extends Measured {
  readonly names: string[];
  readonly columns: number[];
}

/** Names may have colons. */
const ENTRY = /^AVERAGE:(host|vm|sr):([^:]+):(.+)$/;

const NEWLINE = 0x0a;
/** Entries between two looks at the clock. */
const ENTRIES_A_STEP = 100;

/** Fills the legend from its text, an entry a line. */
export function* readLegend(legend: Legend, text: Uint8Array): Steps {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  for (let at = 0, column = 0; at < bytes.length; column++) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline;
    legend.add(bytes.toString("utf8", at, end), column);
    at = end + 1;
    if (column % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
}
