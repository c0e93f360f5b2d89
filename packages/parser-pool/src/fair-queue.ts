import type { DecodePriority } from "@xo-server/model";

/** Highest priority first. */
export const PRIORITIES: readonly DecodePriority[] = ["call", "event", "bulk"];

/** A waiting priority is passed over at most this often: it gets one turn in sixteen. */
const MAX_PASSED_OVER = 15;

interface Node<T> {
  readonly item: T;
  readonly lane: Lane<T>;
  previous: Node<T> | undefined;
  next: Node<T> | undefined;
}

/** The queued items of one XAPI client within one priority; in the ring of the priority while not empty. */
interface Lane<T> {
  readonly name: string;
  readonly level: Level<T>;
  head: Node<T> | undefined;
  tail: Node<T> | undefined;
  previous: Lane<T> | undefined;
  next: Lane<T> | undefined;
}

/** One priority: its lanes in round-robin order. */
interface Level<T> {
  readonly lanes: Map<string, Lane<T>>;
  first: Lane<T> | undefined;
  last: Lane<T> | undefined;
  size: number;
  /** Turns given to a higher priority while this one waited. */
  passedOver: number;
}

/**
 * Fair priority queue. Calls go before events, events before bulk loads; within
 * a priority the lanes take turns (round robin); a priority that has been passed
 * over fifteen times is served, so that none starves.
 *
 *   call  -> lane a: 1 2   lane c: 1
 *   event -> lane b: 1
 *   bulk  -> lane a: 1 2 3 4 5 6 7 ...   lane d: 1 2
 *
 * All operations take constant time.
 */
export class FairQueue<T> {
  readonly #levels: readonly Level<T>[] = PRIORITIES.map(() => ({
    lanes: new Map(),
    first: undefined,
    last: undefined,
    size: 0,
    passedOver: 0,
  }));
  readonly #nodes = new Map<T, Node<T>>();
  /** The last turn, so that `unshift` can undo it. */
  #lastTurn:
    | { readonly item: T; readonly passedOver: readonly number[] }
    | undefined;

  get size(): number {
    return this.#nodes.size;
  }

  sizeOf(priority: DecodePriority): number {
    return this.#levels[PRIORITIES.indexOf(priority)]!.size;
  }

  push(item: T, priority: DecodePriority, lane: string): void {
    const node = this.#nodeFor(item, priority, lane);
    const { tail } = node.lane;
    node.previous = tail;
    if (tail === undefined) this.#joinRing(node.lane, "last");
    else tail.next = node;
    node.lane.head ??= node;
    node.lane.tail = node;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    const passedOver = this.#levels.map((level) => level.passedOver);
    const level = this.#nextLevel();
    const lane = level?.first;
    if (lane === undefined) return undefined;
    const { item } = lane.head!;
    this.#lastTurn = { item, passedOver };
    this.#leaveRing(lane);
    this.#unlink(lane.head!);
    if (lane.head !== undefined) this.#joinRing(lane, "last");
    return item;
  }

  /** Returns the item of the last `shift` to the front of the queue: no thread could take it. */
  unshift(item: T, priority: DecodePriority, lane: string): void {
    const node = this.#nodeFor(item, priority, lane);
    const { head } = node.lane;
    if (head !== undefined) {
      head.previous = node;
      this.#leaveRing(node.lane);
    }
    node.next = head;
    node.lane.head = node;
    node.lane.tail ??= node;
    this.#joinRing(node.lane, "first");
    if (this.#lastTurn?.item === item) {
      this.#lastTurn.passedOver.forEach((count, i) => {
        this.#levels[i]!.passedOver = count;
      });
    }
  }

  /** @returns whether the item was queued */
  remove(item: T): boolean {
    const node = this.#nodes.get(item);
    if (node === undefined) return false;
    if (node.previous === undefined && node.next === undefined)
      this.#leaveRing(node.lane);
    this.#unlink(node);
    return true;
  }

  #nextLevel(): Level<T> | undefined {
    const waiting = this.#levels.filter((level) => level.size > 0);
    const starved = waiting.find(
      (level) => level.passedOver >= MAX_PASSED_OVER,
    );
    const next = starved ?? waiting[0];
    for (const level of waiting) {
      if (level === next) level.passedOver = 0;
      else level.passedOver++;
    }
    return next;
  }

  #nodeFor(item: T, priority: DecodePriority, laneName: string): Node<T> {
    const level = this.#levels[PRIORITIES.indexOf(priority)]!;
    let lane = level.lanes.get(laneName);
    if (lane === undefined) {
      lane = {
        name: laneName,
        level,
        head: undefined,
        tail: undefined,
        previous: undefined,
        next: undefined,
      };
      level.lanes.set(laneName, lane);
    }
    level.size++;
    const node = { item, lane, previous: undefined, next: undefined };
    this.#nodes.set(item, node);
    return node;
  }

  #unlink(node: Node<T>): void {
    const { lane, previous, next } = node;
    if (previous === undefined) lane.head = next;
    else previous.next = next;
    if (next === undefined) lane.tail = previous;
    else next.previous = previous;
    this.#nodes.delete(node.item);
    lane.level.size--;
    if (lane.head === undefined) lane.level.lanes.delete(lane.name);
    if (lane.level.size === 0) lane.level.passedOver = 0;
  }

  #joinRing(lane: Lane<T>, where: "first" | "last"): void {
    const { level } = lane;
    lane.previous = where === "last" ? level.last : undefined;
    lane.next = where === "first" ? level.first : undefined;
    if (lane.previous !== undefined) lane.previous.next = lane;
    else level.first = lane;
    if (lane.next !== undefined) lane.next.previous = lane;
    else level.last = lane;
  }

  #leaveRing(lane: Lane<T>): void {
    const { level, previous, next } = lane;
    if (previous === undefined) level.first = next;
    else previous.next = next;
    if (next === undefined) level.last = previous;
    else next.previous = previous;
    lane.previous = lane.next = undefined;
  }
}
