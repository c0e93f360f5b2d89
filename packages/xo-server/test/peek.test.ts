import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import { peek } from "../src/transfers/peek.js";

/** A stream that fails when it is read far more often than bytes arrive. */
class CountedReads extends Readable {
  reads = 0;

  override _read(): void {
    // Bytes are pushed by the test.
  }

  override read(size?: number): unknown {
    if (++this.reads > 1_000) throw new Error("read in a loop");
    return super.read(size) as unknown;
  }
}

async function rest(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>)
    text += chunk.toString();
  return text;
}

t.test("a header that arrives byte by byte is read once", async (t) => {
  const stream = new CountedReads();
  const header = peek(stream, 8);
  for (const byte of Buffer.from("conectix, and more")) {
    stream.push(Buffer.of(byte));
    await nextTurn();
  }
  stream.push(null);
  t.equal((await header).toString(), "conectix");
  t.equal(await rest(stream), "conectix, and more");
});

t.test("a first piece shorter than the header is waited for", async (t) => {
  const stream = new CountedReads();
  stream.push(Buffer.from("cone"));
  const header = peek(stream, 8);
  // The event loop turns while bytes are missing.
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  t.ok(stream.reads < 10, `${stream.reads} reads`);
  stream.push(Buffer.from("ctix"));
  t.equal((await header).toString(), "conectix");
  t.strictSame(
    ["readable", "end", "error", "close"].map((e) => stream.listenerCount(e)),
    [0, 0, 0, 0],
  );
});

t.test("a stream that is shorter than the header", async (t) => {
  const stream = new CountedReads();
  stream.push(Buffer.from("con"));
  const header = peek(stream, 8);
  await nextTurn();
  stream.push(null);
  t.equal((await header).toString(), "con");
  t.equal(await rest(stream), "con");

  const empty = new CountedReads();
  empty.push(null);
  t.equal((await peek(empty, 8)).length, 0);
});

t.test("a stream that fails or is closed before the header", async (t) => {
  const failing = new CountedReads();
  failing.push(Buffer.from("con"));
  const header = peek(failing, 8);
  await nextTurn();
  failing.destroy(new Error("cut"));
  await t.rejects(header, { message: "cut" });
  await t.rejects(peek(failing, 8), { message: "cut" });

  const closed = new CountedReads();
  const nothing = peek(closed, 8);
  closed.destroy();
  t.equal((await nothing).length, 0);
});
