import t from "tap";
import type { DecodePriority } from "@xo-server/model";
import { FairQueue } from "../src/fair-queue.js";
import { Random } from "./support/random.js";

/** Pushes `priority lane name` items; the item is that text. */
function queueOf(...items: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const item of items) push(queue, item);
  return queue;
}

function push(queue: FairQueue<string>, item: string): void {
  const [priority, lane] = item.split(" ");
  queue.push(item, priority as DecodePriority, lane!);
}

function drain(queue: FairQueue<string>): string[] {
  const order: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift())
    order.push(item);
  return order;
}

t.test("calls go before events, events before bulk loads", async (t) => {
  const queue = queueOf(
    "bulk a 1",
    "event a 1",
    "call a 1",
    "bulk a 2",
    "call a 2",
  );
  t.same(drain(queue), [
    "call a 1",
    "call a 2",
    "event a 1",
    "bulk a 1",
    "bulk a 2",
  ]);
  t.equal(queue.size, 0);
});

t.test("lanes of a priority take turns, each in order", async (t) => {
  const queue = queueOf(
    "bulk a 1",
    "bulk a 2",
    "bulk a 3",
    "bulk b 1",
    "bulk b 2",
    "bulk c 1",
  );
  t.same(drain(queue), [
    "bulk a 1",
    "bulk b 1",
    "bulk c 1",
    "bulk a 2",
    "bulk b 2",
    "bulk a 3",
  ]);
});

t.test("a lane that was empty waits for its turn", async (t) => {
  const queue = queueOf("bulk a 1", "bulk b 1");
  t.equal(queue.shift(), "bulk a 1");
  push(queue, "bulk a 2");
  t.same(drain(queue), ["bulk b 1", "bulk a 2"]);
});

t.test("a waiting priority gets one turn in sixteen", async (t) => {
  const queue = queueOf("bulk a 1", "bulk a 2");
  const served: string[] = [];
  for (let turn = 0; turn < 32; turn++) {
    push(queue, `call b ${turn}`);
    served.push(queue.shift()!);
  }
  const bulkTurns = served.flatMap((item, turn) =>
    item.startsWith("bulk") ? [turn] : [],
  );
  t.same(bulkTurns, [15, 31]);
});

t.test(
  "an item returned by unshift is next again, and no turn is lost",
  async (t) => {
    const items = ["bulk a 1", "bulk a 2", "bulk b 1", "call c 1", "event d 1"];
    const undisturbed = drain(queueOf(...items));
    const queue = queueOf(...items);
    const order: string[] = [];
    while (queue.size > 0) {
      for (let i = 0; i < 20; i++) {
        const item = queue.shift()!;
        const [priority, lane] = item.split(" ");
        queue.unshift(item, priority as DecodePriority, lane!);
      }
      order.push(queue.shift()!);
    }
    t.same(order, undisturbed);
  },
);

t.test("a new call runs before a returned bulk item", async (t) => {
  const queue = queueOf("bulk a 1");
  queue.unshift(queue.shift()!, "bulk", "a");
  push(queue, "call b 1");
  t.same(drain(queue), ["call b 1", "bulk a 1"]);
});

t.test("items can be removed from any position", async (t) => {
  const queue = queueOf(
    "bulk a 1",
    "bulk a 2",
    "bulk a 3",
    "bulk b 1",
    "call a 1",
  );
  t.equal(queue.remove("bulk a 2"), true);
  t.equal(queue.remove("bulk b 1"), true);
  t.equal(queue.remove("bulk b 1"), false);
  t.equal(queue.sizeOf("bulk"), 2);
  t.same(drain(queue), ["call a 1", "bulk a 1", "bulk a 3"]);
});

t.test("random operations agree with a simple model", async (t) => {
  const random = new Random(7);
  const queue = new FairQueue<string>();
  const waiting = new Set<string>();
  for (let step = 0; step < 20_000; step++) {
    const choice = random.below(10);
    if (choice < 5) {
      const item = `${random.pick(["call", "event", "bulk"])} ${random.pick(["a", "b", "c"])} ${step}`;
      push(queue, item);
      waiting.add(item);
    } else if (choice < 9) {
      const item = queue.shift();
      if (waiting.size === 0) t.equal(item, undefined);
      else if (!waiting.delete(item!)) t.fail(`${item} was not waiting`);
    } else if (waiting.size > 0) {
      const item = random.pick([...waiting]);
      waiting.delete(item);
      if (!queue.remove(item)) t.fail(`${item} was lost`);
    }
    if (queue.size !== waiting.size) t.fail("the size is wrong");
  }
  t.same(new Set(drain(queue)), waiting);
});

t.test(
  "a large load delays each small pool by at most one chunk",
  async (t) => {
    // One thread; a stream submits its next chunk when the previous one is done.
    const queue = new FairQueue<string>();
    const chunks = new Map([
      ["huge", 500],
      ...Array.from({ length: 40 }, (_, i) => [`small${i}`, 2] as const),
    ]);
    const submit = (lane: string) => {
      const left = chunks.get(lane)!;
      if (left === 0) return;
      chunks.set(lane, left - 1);
      push(queue, `bulk ${lane} ${left}`);
    };
    submit("huge");
    const order: string[] = [];
    for (let turn = 0; turn < 600; turn++) {
      const item = queue.shift();
      // All small pools start while the large one is being decoded.
      if (turn === 10) for (let i = 0; i < 40; i++) submit(`small${i}`);
      if (item === undefined) break;
      const lane = item.split(" ")[1]!;
      order.push(lane);
      submit(lane);
    }
    const after = order.slice(11);
    const lastSmall = after.reduce(
      (last, lane, turn) => (lane === "huge" ? last : turn),
      0,
    );
    const hugeTurns = after
      .slice(0, lastSmall)
      .filter((lane) => lane === "huge");
    t.equal(lastSmall < 84, true, "80 small chunks are done within 84 turns");
    t.ok(hugeTurns.length <= 3, "the huge pool had one turn a round");
  },
);
