import {
  evaluatePredicate,
  type Frame,
  type Predicate,
  type ViewChange,
} from "@xo-server/inventory";
import { joinObject, type RawMember } from "../encoding/raw-json.js";

/** Changes that go into one notification at most. */
const PART = 256;

/** What somebody may see of a type: everything, nothing, or what passes. */
export type TypeExtent = (type: string) => "all" | "none" | Predicate;

/** What a change is to somebody: a new or other object, one that is gone, or nothing of theirs. */
type Meaning = "enter" | "exit" | undefined;

/**
 * How everybody with the same rights sees what changes: notifications `all`,
 * encoded once. Where rights look into objects, it remembers which ones have
 * been told, so that an object that is theirs no longer leaves.
 */
export class Outlook {
  /** False: everything may be seen, nothing need be remembered. */
  readonly remembers: boolean;
  readonly #name: string;
  readonly #extent: TypeExtent;
  readonly #told = new Set<string>();

  /**
   * @param name of no other outlook
   * @param extent absent: everything may be seen
   */
  constructor(name: string, extent?: TypeExtent) {
    this.remembers = extent !== undefined;
    this.#name = name;
    this.#extent = extent ?? (() => "all");
  }

  /** Somebody has been shown the object. */
  tell(type: string, id: string): void {
    if (typeof this.#extent(type) === "function") this.#told.add(id);
  }

  static partsOf(frame: Frame): number {
    return Math.ceil(frame.changes.length / PART);
  }

  /** The part of a frame that has the change of this revision. */
  static partAt(frame: Frame, revision: number): number {
    return Math.floor((revision - frame.first) / PART);
  }

  static lastRevision(frame: Frame, part: number): number {
    return Math.min(frame.last, frame.first + (part + 1) * PART - 1);
  }

  /**
   * What is to be sent for a part of a frame. Asked for the first time, frames
   * come in their order: what was told is remembered from one to the next.
   */
  messages(frame: Frame, part: number): readonly Buffer[] {
    const dress = `all/${this.#name}/${part}/`;
    let sorted: Sorted | undefined;
    const encode = (kind: "enter" | "exit") =>
      frame.encoded(`${dress}${kind}`, () => {
        sorted ??= this.#sort(
          frame.changes.slice(part * PART, (part + 1) * PART),
        );
        return encodeItems(kind, sorted[kind]);
      });
    // An object that becomes one of another type leaves and enters.
    return [encode("exit"), encode("enter")].filter(({ length }) => length > 0);
  }

  #sort(changes: readonly ViewChange[]): Sorted {
    const sorted: Sorted = { enter: [], exit: [] };
    for (const change of changes) {
      const meaning = this.#meaningOf(change);
      if (meaning === "enter") sorted.enter.push([change.id, change.json!]);
      if (meaning === "exit") sorted.exit.push([change.id, ZERO]);
    }
    return sorted;
  }

  #meaningOf({ type, id, json }: ViewChange): Meaning {
    const extent = this.#extent(type);
    if (extent === "none") return undefined;
    if (extent === "all") return json === undefined ? "exit" : "enter";
    if (json !== undefined && evaluatePredicate(extent, json)) {
      this.#told.add(id);
      return "enter";
    }
    return this.#told.delete(id) ? "exit" : undefined;
  }
}

interface Sorted {
  readonly enter: RawMember[];
  readonly exit: RawMember[];
}

const ZERO = Buffer.from("0");
const NOTHING = Buffer.alloc(0);

function encodeItems(type: string, items: readonly RawMember[]): Buffer {
  if (items.length === 0) return NOTHING;
  const params = joinObject({ type }, [["items", joinObject({}, items)]]);
  return joinObject({ jsonrpc: "2.0", method: "all" }, [["params", params]]);
}
