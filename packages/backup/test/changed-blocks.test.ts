import t from "tap";
import { changedRanges, encodeChangedBlocks } from "../src/index.js";
import { BLOCK } from "./memory-disk.js";

const decode = (bits: number[], size: number) =>
  changedRanges(
    { bitmap: Buffer.from(bits).toString("base64"), grain: 65_536 },
    size,
  );

t.test("a bitmap of changed blocks is decoded to ranges", async (t) => {
  t.same(decode([0b1010_0001, 0b1100_0000], 16 * BLOCK), [
    { offset: 0, length: BLOCK },
    { offset: 2 * BLOCK, length: BLOCK },
    { offset: 7 * BLOCK, length: 3 * BLOCK },
  ]);
  t.same(decode([0, 0], 16 * BLOCK), []);
  t.same(
    decode([0b0000_0010], 6 * BLOCK + 5),
    [{ offset: 6 * BLOCK, length: 5 }],
    "the last block is cut at the end of the disk",
  );
});

t.test("ranges are encoded and decoded again", async (t) => {
  const size = 100 * BLOCK + 17;
  const ranges = [
    { offset: 5, length: 1 },
    { offset: 10 * BLOCK, length: 3 * BLOCK },
    { offset: size - 1, length: 1 },
  ];
  t.same(changedRanges(encodeChangedBlocks(ranges, size), size), [
    { offset: 0, length: BLOCK },
    { offset: 10 * BLOCK, length: 3 * BLOCK },
    { offset: 100 * BLOCK, length: 17 },
  ]);
});

t.test("a bitmap that does not fit the disk is refused", async (t) => {
  const refused = { code: "source-invalid" };
  t.throws(() => decode([0xff], 16 * BLOCK), refused, "too short");
  t.throws(() => decode([0x01], 5 * BLOCK), refused, "behind the end");
  t.throws(
    () => changedRanges({ bitmap: "?!", grain: 65_536 }, BLOCK),
    refused,
  );
  t.throws(
    () => changedRanges({ bitmap: "AA==", grain: 512 as never }, BLOCK),
    refused,
  );
});
