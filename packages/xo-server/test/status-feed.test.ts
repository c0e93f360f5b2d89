import t from "tap";
import { applyMergePatch, type Json } from "@xo-server/kit";
import type { Status } from "../src/status/status.js";
import {
  createStatusFeed,
  type StatusSubscriber,
} from "../src/status/status-feed.js";
import { FakeClock } from "./fake-clock.js";

interface Notification {
  revision: number;
  base?: number;
  patch?: Json;
  status?: Json;
}

/** A client that follows, and can be too slow. */
class Follower implements StatusSubscriber {
  readonly messages: Notification[] = [];
  readonly frames: Buffer[] = [];
  isSlow = false;

  trySend(message: Buffer): boolean {
    if (this.isSlow) return false;
    this.frames.push(message);
    const { method, params } = JSON.parse(message.toString()) as {
      method: string;
      params: Notification;
    };
    if (method === "status") this.messages.push(params);
    return true;
  }
}

/** A feed of a status that is one number. */
function setUp() {
  const clock = new FakeClock();
  let value = 1;
  let reads = 0;
  const feed = createStatusFeed({
    clock,
    read() {
      reads++;
      return { value } as unknown as Status;
    },
  });
  return {
    clock,
    feed,
    set: (next: number) => (value = next),
    reads: () => reads,
  };
}

t.test("a subscriber gets a snapshot, then patches from it on", async (t) => {
  const { clock, feed, set } = setUp();
  const follower = new Follower();
  const { revision, status } = feed.subscribe(follower);
  t.same(status, { value: 1 });
  set(2);
  clock.pass(250);
  set(3);
  clock.pass(250);
  t.same(follower.messages, [
    { revision: revision + 1, base: revision, patch: { value: 2 } },
    { revision: revision + 2, base: revision + 1, patch: { value: 3 } },
  ]);
});

t.test("nothing is sent when nothing changed", async (t) => {
  const { clock, feed } = setUp();
  const follower = new Follower();
  feed.subscribe(follower);
  clock.pass(10_000);
  t.same(follower.messages, []);
});

t.test("there are at most four notifications a second", async (t) => {
  const { clock, feed, set } = setUp();
  const follower = new Follower();
  feed.subscribe(follower);
  for (let step = 0; step < 100; step++) {
    set(step + 100);
    clock.pass(10);
  }
  t.equal(follower.messages.length, 4);
});

t.test("all get the same bytes, encoded once", async (t) => {
  const { clock, feed, set } = setUp();
  const [one, other] = [new Follower(), new Follower()];
  feed.subscribe(one);
  feed.subscribe(other);
  set(2);
  clock.pass(250);
  t.equal(one.frames[0], other.frames[0]);
});

t.test(
  "a slow subscriber gets a snapshot next, the others continue",
  async (t) => {
    const { clock, feed, set } = setUp();
    const [slow, quick] = [new Follower(), new Follower()];
    const { revision } = feed.subscribe(slow);
    feed.subscribe(quick);
    slow.isSlow = true;
    for (const value of [2, 3]) {
      set(value);
      clock.pass(250);
    }
    slow.isSlow = false;
    clock.pass(250);
    t.same(slow.messages, [{ revision: revision + 2, status: { value: 3 } }]);
    set(4);
    clock.pass(250);
    t.match(slow.messages[1], { base: revision + 2, patch: { value: 4 } });
    t.equal(quick.messages.length, 3);
  },
);

t.test("later subscribers start from the revision of the others", async (t) => {
  const { clock, feed, set } = setUp();
  const [early, late] = [new Follower(), new Follower()];
  feed.subscribe(early);
  set(2);
  clock.pass(250);
  set(3);
  const { revision, status } = feed.subscribe(late);
  clock.pass(250);
  t.equal(late.messages[0]?.base, revision);
  t.same(applyMergePatch(status, late.messages[0]!.patch!), { value: 3 });
  t.equal(early.messages[1]?.base, revision);
});

t.test("no subscribers: nothing is read, and nothing waits", async (t) => {
  const { clock, feed, set, reads } = setUp();
  const follower = new Follower();
  feed.subscribe(follower);
  t.equal(feed.unsubscribe(follower), true);
  t.equal(feed.unsubscribe(follower), false);
  const before = reads();
  clock.pass(10_000);
  t.equal(reads(), before);
  t.equal(clock.waiting, 0);
  set(5);
  t.same(feed.subscribe(follower).status, { value: 5 });
  feed.stop();
  t.equal(clock.waiting, 0);
});
