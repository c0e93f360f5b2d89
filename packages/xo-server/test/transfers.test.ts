import { randomBytes } from "node:crypto";
import { get, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import { XoError } from "@xo-server/model";
import type { Source } from "../src/transfers/transfer.js";
import { setUp, MiB, subject, sha256 } from "./transfer-server.js";

/** Bytes without an end, and how many were taken. */
function endless() {
  const chunk = randomBytes(64 * 1024);
  const seen = { bytes: 0, isGone: false };
  const body = new Readable({
    read() {
      seen.bytes += chunk.length;
      this.push(chunk);
    },
    destroy(error, done) {
      seen.isGone = true;
      done(error);
    },
  });
  return { body, seen };
}

const type = "application/octet-stream";

t.test(
  "a download is a task, and is written down with its bytes",
  async (t) => {
    const { transfers, url, outcome, store } = await setUp(t);
    const bytes = randomBytes(3 * MiB);
    const { $getFrom } = await transfers.offerDownload(
      { ...subject, fileName: "ä b.raw" },
      async () => ({
        type,
        body: Readable.from([bytes]),
        length: bytes.length,
      }),
    );
    t.match($getFrom, /\/%C3%A4%20b\.raw$/);
    const answer = await fetch(url + $getFrom);
    t.equal(answer.headers.get("content-length"), String(3 * MiB));
    t.match(answer.headers.get("content-disposition"), /%C3%A4%20b\.raw/);
    t.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())));
    const { operation, params, outcome: end } = await outcome();
    t.equal(operation.name, "disk.move");
    t.same(params, { format: "raw", bytes: 3 * MiB });
    t.notOk("error" in end);
    t.match([...store.rows.values()], [{ objectId: "d", name: "Move of d" }]);
  },
);

t.test("a file name of half a character is downloaded", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "a\ud800.raw" },
    async () => ({ type, body: Readable.from([Buffer.from("x")]), length: 1 }),
  );
  t.match($getFrom, /\/a%EF%BF%BD\.raw$/);
  const answer = await fetch(url + $getFrom);
  t.match(answer.headers.get("content-disposition"), /a%EF%BF%BD\.raw$/);
  t.equal(await answer.text(), "x");
  await outcome();
});

t.test(
  "a slow reader throttles the stream, and one that disconnects ends it",
  async (t) => {
    const { transfers, url, outcome } = await setUp(t);
    const { body, seen } = endless();
    let signal: AbortSignal | undefined;
    const { $getFrom } = await transfers.offerDownload(
      { ...subject, fileName: "" },
      async (work) => {
        ({ signal } = work);
        return { type, body };
      },
    );
    const abort = new AbortController();
    const answer = await fetch(url + $getFrom, { signal: abort.signal });
    const reader = answer.body!.getReader();
    await reader.read();
    // Until nothing is taken any more: the system's buffers are full.
    for (let last = -1, calm = 0; calm < 200;) {
      await nextTurn();
      calm = last === seen.bytes ? calm + 1 : 0;
      last = seen.bytes;
    }
    t.ok(seen.bytes < 32 * MiB, `${seen.bytes} bytes were taken`);
    abort.abort();
    const { outcome: end, params } = await outcome();
    t.match(end, { error: { code: "ABORTED" } });
    t.ok(Reflect.get(params, "bytes") > 0);
    t.ok(seen.isGone, "the source is released");
    t.equal(signal?.aborted, true);
  },
);

t.test("incomplete data is not shown as complete", async (t) => {
  const ends: [string, Partial<Source>][] = [
    ["too short", { length: 2 * MiB }],
    [
      "not finished",
      {
        finished: () => Promise.reject(new Error("the pool says no")),
      },
    ],
  ];
  for (const [name, end] of ends) {
    const { transfers, url, outcome } = await setUp(t);
    const { $getFrom } = await transfers.offerDownload(
      { ...subject, fileName: "x" },
      async () => ({ type, body: Readable.from([randomBytes(MiB)]), ...end }),
    );
    const answer = await fetch(url + $getFrom);
    await t.rejects(answer.arrayBuffer(), name);
    t.match((await outcome()).outcome, { error: { code: "ABORTED" } });
  }
});

t.test("a client that closes after the last byte has all of it", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const bytes = randomBytes(3 * MiB);
  // Neither the body nor the task of the pool has ended when the client has every byte.
  const body = new Readable({ read: () => undefined });
  body.push(bytes);
  let finish: () => void = () => undefined;
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async () => ({
      type,
      body,
      length: bytes.length,
      finished: () => new Promise((resolve) => (finish = resolve)),
    }),
  );
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url + $getFrom, resolve).on("error", reject);
  });
  let received = 0;
  for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
    received += (chunk as Buffer).length;
    if (received === bytes.length) break;
  }
  answer.socket.destroy();
  // Until the server knows that the connection is closed.
  const { url: other, transfers: more } = await setUp(t);
  const { $getFrom: next } = await more.offerDownload(
    { ...subject, fileName: "x" },
    async () => ({ type, body: Readable.from([bytes]) }),
  );
  await (await fetch(other + next)).arrayBuffer();
  body.push(null);
  finish();
  const { outcome: end, params } = await outcome();
  t.notOk("error" in end, "it is a success");
  t.match(params, { bytes: bytes.length });
});

t.test("a pool that fails after the last byte is a failure", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async () => ({
      type,
      body: Readable.from([randomBytes(MiB)]),
      length: MiB,
      finished: () => Promise.reject(new Error("the export failed")),
    }),
  );
  const answer = await fetch(url + $getFrom);
  t.equal((await answer.arrayBuffer()).byteLength, MiB);
  t.match((await outcome()).outcome, { error: { code: "ABORTED" } });
});

t.test("more bytes than announced are a failure", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async () => ({
      type,
      body: Readable.from([randomBytes(MiB)]),
      length: MiB - 1,
    }),
  );
  const answer = await fetch(url + $getFrom);
  const received = await answer.arrayBuffer().catch(() => undefined);
  t.ok(answer.status !== 200 || received === undefined, "it is not complete");
  t.match((await outcome()).outcome, { error: { code: "ABORTED" } });
});

t.test("every operation has a time limit", async (t) => {
  const { transfers, url, outcome, clock } = await setUp(t);
  const body = new Readable({ read: () => undefined });
  body.push(randomBytes(1024));
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async () => ({ type, body }),
  );
  const answer = await fetch(url + $getFrom);
  const reader = answer.body!.getReader();
  await reader.read();
  clock.pass(59_000);
  body.push(randomBytes(1024));
  await reader.read();
  clock.pass(59_000);
  t.notOk(body.destroyed, "a byte now and then is enough");
  clock.pass(2_000);
  await t.rejects(reader.read());
  t.match((await outcome()).outcome, { error: { message: /60 s/ } });
});

t.test("an export that the pool does not begin is a failure", async (t) => {
  const { transfers, url, outcome, tasks } = await setUp(t);
  const error = { method: "/export", ms: 120_000 };
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async () => Promise.reject(new XoError("CALL_TIMEOUT", error)),
  );
  const answer = await fetch(url + $getFrom);
  t.equal(answer.status, 504);
  t.match(await answer.text(), /no response to \/export within 120000 ms/);
  t.match(await outcome(), {
    params: { bytes: 0 },
    outcome: { error: { code: "CALL_TIMEOUT" } },
  });
  t.equal(await tasks.countPending(), 0, "its task has ended");
  t.equal((await fetch(url + $getFrom)).status, 404, "its path is used");
});

t.test("an aborted task ends its operation", async (t) => {
  const { transfers, url, outcome, store, tasks } = await setUp(t);
  const { body, seen } = endless();
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x" },
    async ({ signal }) => {
      signal.addEventListener("abort", () => body.destroy(new Error("gone")));
      return { type, body };
    },
  );
  const answer = await fetch(url + $getFrom);
  const reader = answer.body!.getReader();
  await reader.read();
  const [id] = store.rows.keys();
  await tasks.abort(id!, { id: "boss", isAdmin: true });
  await t.rejects(async () => {
    while (!(await reader.read()).done) continue;
  });
  t.match((await outcome()).outcome, { error: { code: "ABORTED" } });
  t.ok(seen.isGone);
});

/** Everything of an answer, with what comes after its body. */
async function getAll(url: string, headers: Record<string, string> = {}) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on("error", reject);
  });
  const body = Buffer.concat(await answer.toArray());
  const { statusCode: status, headers: answerHeaders, trailers } = answer;
  return { body, status, headers: answerHeaders, trailers };
}

t.test("a checksum of the bytes is sent on request", async (t) => {
  const { transfers, url, outcome, store } = await setUp(t);
  const bytes = randomBytes(3 * MiB);
  const { $getFrom } = await transfers.offerDownload(
    { ...subject, fileName: "x", hasChecksum: true },
    async () => ({ type, body: Readable.from([bytes]), length: bytes.length }),
  );
  const { body, trailers } = await getAll(url + $getFrom);
  t.ok(bytes.equals(body));
  const sum = sha256(bytes);
  t.same(trailers, { "repr-digest": `sha-256=:${sum.toString("base64")}:` });
  t.match((await outcome()).params, { sha256: sum.toString("hex") });
  await nextTurn();
  const [task] = [...store.rows.values()];
  t.match(task?.body, {
    result: { bytes: 3 * MiB, sha256: sum.toString("hex") },
  });
});

t.test("immutable data can be read from where it was cut", async (t) => {
  const bytes = randomBytes(3 * MiB);
  const call = async (
    headers: Record<string, string>,
    source: Partial<Source> = { length: bytes.length, etag: '"a"' },
  ) => {
    const { transfers, url, outcome } = await setUp(t);
    const { $getFrom } = await transfers.offerDownload(
      { ...subject, fileName: "x" },
      async () => ({ type, body: Readable.from([bytes]), ...source }),
    );
    const answer = await getAll(url + $getFrom, headers);
    t.match((await outcome()).params, { bytes: bytes.length });
    return answer;
  };
  for (const from of [1, 65_536, bytes.length - 1]) {
    const rest = await call({ range: `bytes=${from}-` });
    t.equal(rest.status, 206);
    t.ok(bytes.subarray(from).equals(rest.body), `from ${from}`);
    t.match(rest.headers, {
      "content-length": String(bytes.length - from),
      "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      etag: '"a"',
    });
  }
  const known = await call({ range: "bytes=9-", "if-range": '"a"' });
  t.equal(known.status, 206);
  const whole: [Record<string, string>, Partial<Source>?][] = [
    [{}],
    [{ range: "bytes=9-", "if-range": '"b"' }],
    [{ range: `bytes=${bytes.length}-` }],
    [{ range: "bytes=1-5" }],
    [{ range: "bytes=-5" }],
    [{ range: "lines=1-" }],
    [{ range: "bytes=9-" }, { length: bytes.length }],
    [{ range: "bytes=9-" }, {}],
  ];
  for (const [headers, source] of whole) {
    const all = await call(headers, source);
    t.equal(all.status, 200, JSON.stringify(headers));
    t.ok(bytes.equals(all.body));
  }
});
