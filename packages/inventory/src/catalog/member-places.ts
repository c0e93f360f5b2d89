import { MemberCursor } from "./member-cursor.js";

/** Where the members of an object in canonical JSON begin: their keys' quotes, in order. */
export interface MemberPlaces {
  /** The first `count`. */
  readonly places: Int32Array;
  readonly count: number;
}

/** Gathers places without an object for each. */
export class PlaceList implements MemberPlaces {
  places = new Int32Array(64);
  count = 0;

  add(place: number): void {
    if (this.count === this.places.length) {
      const grown = new Int32Array(2 * this.count);
      grown.set(this.places);
      this.places = grown;
    }
    this.places[this.count++] = place;
  }

  clear(): void {
    this.count = 0;
  }
}

/** The same, looked for. */
export function membersOf(
  bytes: Uint8Array,
  list: PlaceList = new PlaceList(),
): MemberPlaces {
  list.clear();
  const cursor = new MemberCursor(bytes, 0);
  for (; cursor.hasMember; cursor.next()) list.add(cursor.keyStart);
  return list;
}
