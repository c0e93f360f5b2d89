import t from "tap";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { TestClient, exchange } from "./support/raw-client.js";
import { VM, tinyPool } from "./support/tiny-pool.js";

const CALL =
  '{"jsonrpc":"2.0","method":"system.listMethods","params":[],"id":0}';
const RAW = `POST /jsonrpc HTTP/1.1\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`;

function body(answer: Buffer): Buffer {
  return answer.subarray(answer.indexOf("\r\n\r\n") + 4);
}

t.test(
  "cut breaks the connection after a number of bytes of the body",
  async (t) => {
    const { pool } = await tinyPool(t);
    pool.faults.set("cut", { value: 100, times: 1 });
    t.equal(body(await exchange(pool.url, RAW)).length, 100);
    t.ok(body(await exchange(pool.url, RAW)).length > 10_000, "only once");
  },
);

t.test("truncated is whole HTTP around half an answer", async (t) => {
  const { pool } = await tinyPool(t);
  pool.faults.set("truncated", 10);
  const answer = await exchange(pool.url, RAW);
  t.match(
    answer.toString(),
    new RegExp(`content-length: ${body(answer).length}\r\n`),
  );
  t.throws(() => JSON.parse(body(answer).toString()) as unknown);
});

t.test("bad JSON, bad XML and invalid UTF-8 cannot be read", async (t) => {
  const { pool } = await tinyPool(t);
  pool.faults.set("badJson", true);
  t.throws(() => JSON.parse(RAW) as unknown);
  const text = body(await exchange(pool.url, RAW)).toString();
  t.throws(() => JSON.parse(text) as unknown);
  pool.faults.clear();
  pool.faults.set("invalidUtf8", true);
  const bytes = body(await exchange(pool.url, RAW));
  t.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  pool.faults.clear();
  pool.faults.set("badXml", true);
  const xml = "<methodCall><methodName>x</methodName><params/></methodCall>";
  const answer = await exchange(
    pool.url,
    `POST / HTTP/1.1\r\nContent-Length: ${xml.length}\r\n\r\n${xml}`,
  );
  t.match(answer.toString(), /<oops &/);
});

t.test(
  "http500, delay and trickle change the way, not the answer",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    pool.faults.set("http500", { value: true, times: 1 });
    t.match(
      (await exchange(pool.url, RAW)).toString(),
      /^HTTP\/1.1 500 Internal Error/,
    );
    pool.faults.set("delay", 100);
    pool.faults.set("trickle", 10_000);
    t.same(await client.call("VM.get_by_uuid", "uuid-vm-1"), VM);
  },
);

t.test(
  "hang and stall keep the connection open without an answer, drop closes it",
  async (t) => {
    const { pool } = await tinyPool(t);
    const { hostname, port } = new URL(pool.url);
    for (const [name, value, expected] of [
      ["hang", true, 0],
      ["stall", 100, 100],
    ] as const) {
      pool.faults.set(name, { value, times: 1 });
      const socket = connect(Number(port), hostname);
      let received = Buffer.alloc(0);
      socket.on("data", (bytes) => {
        received = Buffer.concat([received, bytes]);
      });
      socket.write(RAW);
      // An answer after the fault shows that the first one had its turn.
      await exchange(pool.url, RAW);
      while (expected > 0 && body(received).length < expected)
        await once(socket, "data");
      t.equal(socket.readableEnded, false, `${name}: still open`);
      t.equal(received.length === 0 ? 0 : body(received).length, expected);
      socket.destroy();
    }
    pool.faults.set("drop", { value: true, times: 1 });
    const dropped = await exchange(pool.url, RAW).catch(() => Buffer.alloc(0));
    t.equal(dropped.length, 0);
    t.ok((await exchange(pool.url, RAW)).length > 0, "only once");
  },
);

t.test("a fault can apply to one method only", async (t) => {
  const { pool, client } = await tinyPool(t);
  pool.faults.set("truncated", { value: 5, method: "host.get_all" });
  t.same(await client.call("VM.get_by_uuid", "uuid-vm-1"), VM);
  await t.rejects(client.call("host.get_all"));
});

t.test("sessions end and events are lost on demand", async (t) => {
  const { pool, client } = await tinyPool(t);
  pool.faults.set("eventsLost", { value: true, times: 1 });
  await t.rejects(client.call("event.from", ["*"], "", 0), {
    message: "EVENTS_LOST",
  });
  await client.call("event.from", ["*"], "", 0);
  pool.faults.set("sessionInvalid", true);
  await t.rejects(client.call("VM.get_all"), { message: /^SESSION_INVALID/ });
  await client.logIn();
});

t.test(
  "a host is booting for a number of calls, or until it is reset",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const refused = () =>
      t.rejects(client.call("VM.get_all"), { message: "HOST_STILL_BOOTING" });
    pool.faults.set("booting", { value: true, times: 2 });
    await refused();
    await refused();
    await client.call("VM.get_all");
    pool.faults.set("booting", { value: true, method: "VM.get_all" });
    await refused();
    await client.call("host.get_all");
    await refused();
    pool.faults.set("booting", false);
    await client.call("VM.get_all");
  },
);

t.test("faults are set over HTTP, from the loopback", async (t) => {
  const { pool } = await tinyPool(t);
  const post = (path: string, message: unknown): Promise<string> =>
    new Promise((resolve, reject) => {
      const call = request(pool.url + path, { method: "POST" }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => (text += String(chunk)));
        answer.on("end", () => resolve(`${answer.statusCode} ${text}`));
      });
      call.on("error", reject);
      const body = JSON.stringify(message);
      call.setHeader("content-length", body.length);
      call.end(body);
    });
  t.match(
    await post("/sim/faults", { booting: true }),
    /^200 .*"faults":\{"booting":\{"value":true\}\}/,
  );
  await t.rejects(new TestClient(pool.url).logIn(), {
    message: "HOST_STILL_BOOTING",
  });
  await post("/sim/faults", { booting: false });
  await new TestClient(pool.url).logIn();
  t.match(
    await post("/sim/faults", { nonsense: true }),
    /^400 .*no fault nonsense/,
  );
  t.match(await post("/sim/churn", { perSecond: 7 }), /^200 .*"churn":7/);
});
