import t from "tap";
import {
  UnsentBytes,
  unsentBytesLimit,
  type SlowClient,
} from "../src/limits/unsent-bytes.js";
import { FakeClock } from "./fake-clock.js";

class FakeClient implements SlowClient {
  unsentBytes: number;
  readonly owner: string;
  isClosed = false;

  constructor(owner: string, unsentBytes: number) {
    this.owner = owner;
    this.unsentBytes = unsentBytes;
  }

  closeStalled(): void {
    this.isClosed = true;
    this.unsentBytes = 0;
  }
}

function setUp(limitBytes: number, ...clients: readonly FakeClient[]) {
  const clock = new FakeClock();
  const unsent = new UnsentBytes({ clients, limitBytes, clock });
  return { clock, unsent };
}

t.test(
  "beyond the limit connections of the owner with the most unread bytes are closed, the largest first",
  async (t) => {
    const slow = new FakeClient("honest", 60);
    const many = [40, 50, 30, 10].map(
      (bytes) => new FakeClient("other", bytes),
    );
    const { unsent } = setUp(120, slow, ...many);
    unsent.check();
    t.same(
      many.map(({ isClosed }) => isClosed),
      [true, true, false, false],
    );
    t.notOk(slow.isClosed);
  },
);

t.test("within the limit nothing is closed", async (t) => {
  const client = new FakeClient("a", 150);
  setUp(150, client).unsent.check();
  t.notOk(client.isClosed);
});

t.test("all clients are summed up at most ten times a second", async (t) => {
  const client = new FakeClient("a", 10);
  const { clock, unsent } = setUp(100, client);
  unsent.check();
  client.unsentBytes = 200;
  clock.pass(99);
  unsent.check();
  t.notOk(client.isClosed);
  clock.pass(1);
  unsent.check();
  t.ok(client.isClosed);
});

t.test("a clock that is set back does not stop checks", async (t) => {
  const client = new FakeClient("a", 10);
  const { clock, unsent } = setUp(100, client);
  unsent.check();
  client.unsentBytes = 200;
  clock.shift(-3_600_000);
  unsent.check();
  t.ok(client.isClosed);
});

t.test("the limit follows from the memory of the machine", async (t) => {
  const GIB = 2 ** 30;
  const limit = (totalBytes: number, constrainedBytes = 0) =>
    unsentBytesLimit({ totalBytes, constrainedBytes });
  t.equal(limit(8 * GIB), GIB);
  t.equal(limit(64 * GIB), GIB);
  t.equal(limit(64 * GIB, 4 * GIB), GIB / 2);
  t.equal(limit(GIB), GIB / 4);
});
