import {
  evaluatePredicate,
  type Frame,
  type Predicate,
  type ViewChange,
} from "@xo-server/inventory";
import {
  joinObject,
  objectPieces,
  type RawMember,
} from "../encoding/raw-json.js";

/** Maximum number of changes in one notification. */
const PART = 256;

/** The readable objects of a type: all, none, or those that meet a predicate. */
type TypeExtent = (type: string) => "all" | "none" | Predicate;

/**
 * A change from the subscriber's point of view: an added or changed object, a
 * removed one, or nothing, if the object is not readable.
 */
type Meaning = "enter" | "exit" | undefined;

/**
 * The notifications `all` of all clients with the same rights, encoded once.
 * Where rights depend on the content of objects, it tracks which objects were
 * sent, so that an object that becomes unreadable is sent as removed.
 */
export class SharedSubscription {
  /** False: all objects are readable, nothing is tracked. */
  readonly tracksSent: boolean;
  readonly #name: string;
  readonly #extent: TypeExtent;
  readonly #sent = new Set<string>();

  /**
   * @param name unique among the subscriptions
   * @param extent absent: all objects are readable
   */
  constructor(name: string, extent?: TypeExtent) {
    this.tracksSent = extent !== undefined;
    this.#name = name;
    this.#extent = extent ?? (() => "all");
  }

  /** To be called when the object was sent to a client. */
  noteSent(type: string, id: string): void {
    if (typeof this.#extent(type) === "function") this.#sent.add(id);
  }

  static partsOf(frame: Frame): number {
    return Math.ceil(frame.changes.length / PART);
  }

  /** The part of a frame that contains the change of this revision. */
  static partAt(frame: Frame, revision: number): number {
    return Math.floor((revision - frame.first) / PART);
  }

  static lastRevision(frame: Frame, part: number): number {
    return Math.min(frame.last, frame.first + (part + 1) * PART - 1);
  }

  /**
   * The messages for a part of a frame. The first call for each frame must be
   * in the order of the frames, because sent objects are tracked from frame to
   * frame.
   */
  messages(frame: Frame, part: number): readonly Buffer[] {
    const key = `all/${this.#name}/${part}/`;
    let sorted: Sorted | undefined;
    const encode = (kind: "enter" | "exit") =>
      frame.encoded(`${key}${kind}`, () => {
        sorted ??= this.#sort(
          frame.changes.slice(part * PART, (part + 1) * PART),
        );
        return encodeItems(kind, sorted[kind]);
      });
    // An object whose type changes is removed and added.
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
      this.#sent.add(id);
      return "enter";
    }
    return this.#sent.delete(id) ? "exit" : undefined;
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
  const params = objectPieces({ type }, [["items", objectPieces({}, items)]]);
  return joinObject({ jsonrpc: "2.0", method: "all" }, [["params", params]]);
}
