import { randomFillSync } from "node:crypto";
import t from "tap";
import { copyBytes } from "../src/copy-bytes.js";

const SIZE = 100;
const source = randomFillSync(Buffer.alloc(SIZE));

for (const isShared of [false, true])
  t.test(`bytes are copied at any place, shared: ${isShared}`, async (t) => {
    for (let from = 0; from < 10; from++)
      for (let at = 0; at < 10; at++) {
        const memory = isShared
          ? new SharedArrayBuffer(SIZE)
          : new ArrayBuffer(SIZE);
        const target = Buffer.from(memory);
        t.equal(copyBytes(source.subarray(from, 80), target, at), 80 - from);
        const expected = Buffer.alloc(SIZE);
        source.copy(expected, at, from, 80);
        t.ok(target.equals(expected), `from ${from} to ${at}`);
      }
  });

t.test("as many bytes are copied as fit", async (t) => {
  const target = Buffer.from(new SharedArrayBuffer(SIZE));
  t.equal(copyBytes(source, target, 95), 5);
  t.equal(copyBytes(source, target, 93), 7);
  t.ok(target.subarray(93).equals(source.subarray(0, 7)));
  t.ok(target.subarray(0, 93).every((byte) => byte === 0));
  t.equal(copyBytes(source, target, SIZE), 0);
  t.equal(copyBytes(Buffer.alloc(0), target), 0);
});
