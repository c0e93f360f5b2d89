import t from "tap";
import { xxh64 } from "../src/transfer/xxh64.js";

/** The slow way, in bigints, after the description of the algorithm. */
const MASK = (1n << 64n) - 1n;
const [P1, P2, P4] = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x85ebca77c2b2ae63n,
] as const;
const rotate = (value: bigint, bits: bigint) =>
  ((value << bits) | (value >> (64n - bits))) & MASK;
const round = (lane: bigint, input: bigint) =>
  (rotate((lane + input * P2) & MASK, 31n) * P1) & MASK;

/** Of whole stripes of 32 bytes. */
function reference(bytes: Buffer): string {
  let lanes = [(P1 + P2) & MASK, P2, 0n, (MASK + 1n - P1) & MASK];
  for (let at = 0; at < bytes.length; at += 32)
    lanes = lanes.map((lane, i) =>
      round(lane, bytes.readBigUInt64LE(at + 8 * i)),
    );
  const shifts = [1n, 7n, 12n, 18n];
  let hash = lanes.reduce((sum, lane, i) => sum + rotate(lane, shifts[i]!), 0n);
  hash &= MASK;
  for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * P1 + P4) & MASK;
  hash = (hash + BigInt(bytes.length)) & MASK;
  hash = ((hash ^ (hash >> 33n)) * P2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * 0x165667b19e3779f9n) & MASK;
  return (hash ^ (hash >> 32n)).toString(16).padStart(16, "0");
}

t.test("XXH64 of known texts", (t) => {
  for (const [text, hash] of [
    ["", "ef46db3751d8e999"],
    ["a", "d24ec4f1a98c6e5b"],
    ["abc", "44bc2cf5ad770999"],
    ["Nobody inspects the spammish repetition", "fbcea83c8a378bf1"],
  ] as const)
    t.equal(xxh64(Buffer.from(text)), hash, text);
  t.end();
});

t.test("XXH64 of random bytes, in halves as in bigints", (t) => {
  let word = 1;
  for (const length of [32, 64, 4096, 65_536]) {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 4) {
      word = Math.imul(word, 1_664_525) + 1_013_904_223;
      bytes.writeInt32LE(word | 0, at);
    }
    t.equal(xxh64(bytes), reference(bytes), `${length} bytes`);
    t.equal(
      xxh64(Buffer.alloc(length, 0xff)),
      reference(Buffer.alloc(length, 0xff)),
    );
  }
  t.end();
});
