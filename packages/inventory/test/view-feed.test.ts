import { silentLogger } from "@xo-server/kit";
import t from "tap";
import { FrameRing } from "../src/catalog/view-feed.js";
import { FakeClock } from "./fake-clock.js";

function setUp() {
  const clock = new FakeClock();
  const feed = new FrameRing({
    feedId: "e",
    limit: 1 << 20,
    clock,
    logger: silentLogger,
  });
  /** Publishes one changed object. */
  const change = () => {
    const json = Buffer.alloc(1000);
    const object = { row: 0, id: "a", type: "VM", pool: "p" };
    const frame = feed.push({
      className: "VM",
      changes: [{ ...object, kind: "update", json }],
      summaries: new Map(),
    });
    feed.notify(frame);
    return frame;
  };
  const since = (revision: number) => feed.since({ feedId: "e", revision });
  return { feed, change, since };
}

t.test("frames that every subscriber has read are dropped", async (t) => {
  const { feed, change, since } = setUp();
  let [quick, slow] = [0, 0];
  feed.subscribe(
    ({ last }) => {
      quick = last;
    },
    { readRevision: () => quick },
  );
  const leave = feed.subscribe(() => undefined, { readRevision: () => slow });
  const size = change().byteLength;
  for (let i = 0; i < 9; i++) change();
  t.equal(feed.byteLength, 10 * size, "one subscriber has not read them");
  t.equal(since(0).length, 10);
  slow = 4;
  change();
  t.equal(feed.byteLength, 7 * size);
  t.equal(since(slow).length, 7);
  t.equal(since(3), "resync");
  leave();
  change();
  t.equal(feed.byteLength, size, "the last frame");
});

t.test("a frame is retained until all of its changes are read", async (t) => {
  const { feed, change, since } = setUp();
  feed.subscribe(() => undefined, { readRevision: () => 1 });
  const object = { row: 0, id: "a", type: "VM", pool: "p" };
  feed.push({
    className: "VM",
    changes: [
      { ...object, kind: "remove" },
      { ...object, kind: "remove" },
    ],
    summaries: new Map(),
  });
  change();
  t.equal(since(1).length, 2);
});

t.test("a subscriber that reads each frame at once retains none", async (t) => {
  const { feed, change } = setUp();
  feed.subscribe(() => undefined, { readRevision: () => Infinity });
  for (let i = 0; i < 10; i++) change();
  t.equal(feed.byteLength, 0);
});

t.test(
  "without a position of the subscriber frames are retained",
  async (t) => {
    const { feed, change, since } = setUp();
    feed.subscribe(() => undefined);
    feed.subscribe(() => undefined, { readRevision: () => Infinity });
    for (let i = 0; i < 10; i++) change();
    t.equal(since(0).length, 10);
  },
);
