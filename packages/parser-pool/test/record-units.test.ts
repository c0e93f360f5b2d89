import t from "tap";
import { createParserPool, type ParserPool } from "../src/index.js";
import { feed, type ReadRecord } from "./support/feed.js";
import { Random, randomText } from "./support/random.js";

// WebAssembly is used for pieces of 4 KiB and more: the same answer in shorter
// segments is split in TypeScript only, which is the reference here.
const shortCut = createParserPool({ place: "main" });
const splitter = createParserPool({ place: "main", segmentBytes: 1024 });
t.teardown(async () => {
  await shortCut.close();
  await splitter.close();
});

t.test("the WebAssembly module was built", async (t) => {
  // The first records load it.
  await read(shortCut, answerOf(new Random(1)));
  t.ok(shortCut.stats().usesWebAssembly);
});

t.test(
  "WebAssembly and TypeScript decode the same records, columns and digests",
  async (t) => {
    const random = new Random(20261121);
    for (let round = 0; round < 60; round++) {
      const body = answerOf(random);
      const records = await read(shortCut, body);
      t.same(await read(splitter, body), records, `round ${round}`);
      t.ok(records.length > 0);
    }
  },
);

t.test(
  "WebAssembly and TypeScript reject the same answers for the same reason",
  async (t) => {
    const random = new Random(7);
    for (let round = 0; round < 200; round++) {
      const body = broken(answerOf(random), random);
      t.same(
        await outcome(shortCut, body),
        await outcome(splitter, body),
        `round ${round}`,
      );
    }
  },
);

t.test(
  "records nested deeper than the limit of WebAssembly are decoded",
  async (t) => {
    const deep = (levels: number) =>
      `${"[".repeat(levels)}1${"]".repeat(levels)}`;
    const record = (n: number) =>
      `"OpaqueRef:${n}":{"uuid":"u","a":${deep(n)}}`;
    const depths = [1, 198, 199, 200, 201, 202, 400, 2, 300];
    const body = `{"result":{${depths.map(record).join(",")}},"error":null,"id":1}`;
    const records = await read(shortCut, Buffer.from(body));
    t.same(
      records.map(({ ref }) => ref),
      depths.map((n) => `OpaqueRef:${n}`),
    );
  },
);

async function read(
  pool: ParserPool,
  body: Uint8Array,
): Promise<readonly ReadRecord[]> {
  const { records } = await feed(pool, body, { className: "VM" });
  return records;
}

/** The records, or the error's message without the limits of a pool. */
async function outcome(pool: ParserPool, body: Uint8Array): Promise<unknown> {
  try {
    return await read(pool, body);
  } catch (error) {
    return (error as Error).message;
  }
}

/** One byte changed, removed or doubled, or the rest removed. */
function broken(body: Uint8Array, random: Random): Uint8Array {
  const at = random.below(body.length);
  const before = body.subarray(0, at);
  const after = body.subarray(at + 1);
  const other = Buffer.from(
    random.pick(['"', "\\", ",", "{", "]", " ", "\0", "N", "e", "7", "\u00ff"]),
  );
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([before, other, after]);
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, other, body.subarray(at)]);
    default:
      return before;
  }
}

function answerOf(random: Random): Uint8Array {
  const records = Array.from({ length: 40 + random.below(60) }, (_, n) => {
    const record = JSON.stringify({
      uuid: `uuid-${n}`,
      name_label: randomText(random),
      power_state: "Running",
      tags: random.many(3, () => randomText(random)),
      [randomText(random)]: randomValue(random, 4),
      memory_static_max: random.pick([
        0, -1, 4294967296, 9007199254740991, 1.5, 1e-9, 123456789012345,
      ]),
      is_a_template: random.next() < 0.5,
      resident_on: "OpaqueRef:NULL",
    });
    const odd =
      random.below(12) === 0 ? withUnusualValue(record, random) : record;
    return `"OpaqueRef:${n}-${"f".repeat(random.below(30))}":${odd}`;
  });
  return Buffer.from(
    `{"jsonrpc":"2.0","result":{${records.join(",")}},"id":0}`,
  );
}

/** The same record with something that WebAssembly leaves to TypeScript. */
function withUnusualValue(record: string, random: Random): string {
  const rest = record.slice(1);
  return random.pick([
    `{ ${rest}`,
    `{"odd":NaN,${rest}`,
    `{"odd":-Infinity,${rest}`,
    `{"odd":9223372036854775807,${rest}`,
    `{"odd":1e5,${rest}`,
    `{"odd":"\\u00e9\\/",${rest}`,
    `{\n"odd" : [ 1 , {} ] , ${rest}`,
    "{}",
  ]);
}

function randomValue(random: Random, depth: number): unknown {
  const inner = () => randomValue(random, depth - 1);
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0:
      return randomText(random);
    case 1:
      return random.below(1e9) - 5e8;
    case 2:
      return random.next() * 100;
    case 3:
      return random.next() < 0.5;
    case 4:
      return null;
    case 5:
      return random.many(5, inner);
    default:
      return Object.fromEntries(
        random.many(5, () => [randomText(random), inner()]),
      );
  }
}
