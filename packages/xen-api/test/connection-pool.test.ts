import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import t, { type Test } from "tap";
import { ConnectionPool } from "../src/http/connection-pool.js";
import type { DialedSocket } from "../src/http/dial.js";
import { FakeClock } from "./fake-clock.js";

const address = { scheme: "http", host: "192.0.2.1", port: 80 } as const;

/** Both ends of a connection. */
async function connection(t: Test): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const near = connect(port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  t.teardown(() => far.destroy());
  return [near, far];
}

/** A pool whose connections are established when the test says so. */
function setUp() {
  const dials: ((dialed: DialedSocket) => void)[] = [];
  const dialer = {
    dial: () => new Promise<DialedSocket>((resolve) => dials.push(resolve)),
    hasOtherWay: false,
    isUsable: () => true,
  };
  return { dials, pool: new ConnectionPool(dialer, new FakeClock(), 4) };
}

t.test(
  "a connection that is established after close is closed, and its caller gets the reason",
  async (t) => {
    const { dials, pool } = setUp();
    const acquired = pool.acquire(address, "any");
    const reason = new Error("the client was closed");
    pool.close(reason);
    const [near, far] = await connection(t);
    const ended = once(far.resume(), "close");
    dials[0]!({ socket: near, usesOnread: false });
    await t.rejects(acquired, reason);
    await ended;
    t.ok(near.destroyed);
  },
);

t.test("a closed pool opens no connection", async (t) => {
  const { dials, pool } = setUp();
  const reason = new Error("the client was closed");
  pool.close(reason);
  await t.rejects(pool.acquire(address, "any"), reason);
  t.equal(dials.length, 0);
});

t.test("close ends connections in use and idle ones", async (t) => {
  const { dials, pool } = setUp();
  const ends: Socket[] = [];
  const acquire = async () => {
    const [near, far] = await connection(t);
    const acquired = pool.acquire(address, "any");
    dials.at(-1)!({ socket: near, usesOnread: false });
    ends.push(far.resume());
    return (await acquired).connection;
  };
  const idle = await acquire();
  const used = await acquire();
  pool.release(address, idle);
  const closed = ends.map((end) => once(end, "close"));
  pool.close(new Error("the client was closed"));
  await Promise.all(closed);
  t.notOk(idle.isReusable || used.isReusable);
});
