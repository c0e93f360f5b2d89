import type { Test } from "tap";
import type { DecodeRequest } from "@xo-server/model";
import type { ParserPool, ParserPoolOptions } from "../../src/index.js";
import {
  DateTime,
  encode,
  Float,
  plain,
  type EncodingName,
  type Logical,
} from "./encodings.js";
import { feed, type FeedOptions } from "./feed.js";
import { Random, randomText } from "./random.js";

const COLUMNS = ["uuid", "name_label", "count", "tags", "missing"];

/** A test class with every type of field of a data model. */
export const thingOptions: ParserPoolOptions = {
  classes: ["Thing"],
  columnsOf: (name) => (name === "Thing" ? COLUMNS : ["uuid"]),
  integerFieldsOf: (name) =>
    name === "Thing" ? { count: "value", sizes: "set", usage: "map" } : {},
  classNameOf: (name) => (name.toLowerCase() === "thing" ? "Thing" : name),
};

export interface ContractSubject {
  readonly encoding: EncodingName;
  readonly createPool: (options: ParserPoolOptions) => ParserPool;
  readonly wire: DecodeRequest["encoding"];
}

/** The contract of every format, wherever it runs and however the bytes are split. */
export async function decodingContract(
  t: Test,
  { encoding, createPool, wire }: ContractSubject,
): Promise<void> {
  const random = new Random(42);
  const chunkings: [string, () => number][] = [
    ["byte by byte", () => 1],
    ["in random chunks", () => 1 + random.below(200)],
    ["in one piece", () => Infinity],
  ];
  const pool = createPool({ ...thingOptions, segmentBytes: 701 });
  t.teardown(() => pool.close());
  const request = { encoding: wire, className: "Thing" } as const;

  for (const [how, chunk] of chunkings) {
    const options: FeedOptions = { ...request, chunk };

    await t.test(`records are split, ${how}`, async (t) => {
      const things = new Map(
        Array.from({ length: 60 }, (_, i) => [
          `OpaqueRef:${i}`,
          thing(random, i),
        ]),
      );
      const body = encode(encoding, { value: things });
      const { answer, records } = await feed(pool, body, options);
      t.match(answer, { outcome: "success", encoding: wire });
      t.equal(records.length, things.size);
      for (const { ref, record, columns, className, operation } of records) {
        const requested = plain(things.get(ref)!) as Record<string, unknown>;
        t.same(record, requested, ref);
        t.same(
          columns.map((text) =>
            text === "" ? undefined : (JSON.parse(text) as unknown),
          ),
          COLUMNS.map((name) => requested[name]),
        );
        t.same([className, operation], ["Thing", "add"]);
      }
    });

    await t.test(`events are split, ${how}`, async (t) => {
      const events = Array.from({ length: 30 }, (_, i) => event(random, i));
      const value = new Map<string, Logical>([
        ["events", events],
        [
          "valid_ref_counts",
          new Map([
            ["thing", 12],
            ["pool", 1],
          ]),
        ],
        ["token", "0003,0001"],
      ]);
      const body = encode(encoding, { value });
      const { answer, records } = await feed(pool, body, {
        ...options,
        shape: "events",
        className: "",
      });
      t.match(answer, { outcome: "success", token: "0003,0001" });
      const counts = answer.outcome === "success" && answer.validRefCounts;
      t.same(
        [...(counts || [])].map(([k, v]) => [k, Number(v)]),
        [
          ["Thing", 12],
          ["pool", 1],
        ],
      );
      t.same(
        records.map(({ ref, className, operation, record }) => ({
          ref,
          className,
          operation,
          record,
        })),
        events.map((logical) => {
          const { ref, operation, snapshot } = plain(logical) as Record<
            string,
            unknown
          >;
          return { ref, className: "Thing", operation, record: snapshot };
        }),
      );
    });

    await t.test(`a failure has its code and parameters, ${how}`, async (t) => {
      const error = ["HANDLE_INVALID", "VM", randomText(random) + 'é<&>"'];
      for (const shape of ["value", "records", "events"] as const) {
        const body = encode(encoding, { error });
        const { answer } = await feed(pool, body, { ...options, shape });
        t.same(answer, { outcome: "failure", encoding: wire, error });
      }
    });

    await t.test(`values of every type are decoded, ${how}`, async (t) => {
      const values: Logical[] = [
        "",
        "text",
        true,
        new Float(0.5),
        [],
        ["a", ["b"]],
        new Map(),
        new Map([
          ["__proto__", "x"],
          ["k", "v"],
        ]),
      ];
      for (const value of [
        ...values,
        ...Array.from({ length: 10 }, () => tree(random, 4)),
      ]) {
        const body = encode(encoding, { value });
        const { answer } = await feed(pool, body, {
          ...options,
          className: "",
          shape: "value",
        });
        t.same(answer, {
          outcome: "success",
          encoding: wire,
          value: plain(value),
        });
      }
    });
  }

  await t.test(
    "a record longer than several segments is decoded",
    async (t) => {
      const long = thing(random, 1).set("name_label", "long ".repeat(20_000));
      const things = new Map([
        ["OpaqueRef:a", thing(random, 0)],
        ["OpaqueRef:b", long],
        ["OpaqueRef:c", thing(random, 2)],
      ]);
      const { records } = await feed(
        pool,
        encode(encoding, { value: things }),
        { ...request, chunk: () => 1000 },
      );
      t.same(
        records.map(({ record }) => record),
        [...things.values()].map(plain),
      );
    },
  );

  await t.test(
    "NaN, infinities and integers above 2^53 are preserved and flagged",
    async (t) => {
      const odd = new Map<string, Logical>([
        ["count", 9007199254740993n],
        ["a", new Float(NaN)],
        ["b", new Float(-Infinity)],
      ]);
      const usual = new Map<string, Logical>([["count", 9007199254740991]]);
      const value = new Map([
        ["OpaqueRef:odd", odd],
        ["OpaqueRef:usual", usual],
      ]);
      const { records } = await feed(
        pool,
        encode(encoding, { value }),
        request,
      );
      t.same(
        records.map(({ lenient }) => lenient),
        [true, false],
      );
      t.same(
        records.map(({ record }) => record),
        [plain(odd), plain(usual)],
      );
    },
  );

  await t.test(
    "equal records have equal digests, different records different ones",
    async (t) => {
      const value = new Map(
        [0, 1, 2].map((i) => [
          `OpaqueRef:${i}`,
          new Map([["uuid", i === 2 ? "y" : "x"]]),
        ]),
      );
      const { records } = await feed(
        pool,
        encode(encoding, { value }),
        request,
      );
      const [a, b, c] = records.map(({ digest }) => digest);
      t.equal(a, b);
      t.not(a, c);
    },
  );

  await t.test("an answer truncated at any byte is invalid", async (t) => {
    const value = new Map([["OpaqueRef:1", thing(random, 1)]]);
    const body = encode(encoding, { value });
    const cuts = [
      0,
      1,
      20,
      body.length - 1,
      ...Array.from({ length: 20 }, () => random.below(body.length)),
    ];
    for (const cut of cuts)
      await t.rejects(
        feed(pool, body.subarray(0, cut), request),
        { code: "BAD_ANSWER" },
        `cut at ${cut}`,
      );
  });

  await t.test("the pool works after invalid answers", async (t) => {
    const { answer } = await feed(pool, encode(encoding, { value: "alive" }), {
      ...request,
      shape: "value",
    });
    t.match(answer, { value: "alive" });
  });
}

function thing(random: Random, i: number): Map<string, Logical> {
  return new Map<string, Logical>([
    ["uuid", `0000-${i}`],
    ["name_label", randomText(random)],
    ["count", random.pick([0, -1, 7, 4294967296, 9007199254740991])],
    ["sizes", random.many(4, () => random.below(1000))],
    [
      "usage",
      new Map(
        random.many(4, () => [randomText(random) || "k", random.below(9)]),
      ),
    ],
    ["ratio", new Float(random.pick([0.1, 4, -0.3333333333333333, 1e300]))],
    ["enabled", random.next() < 0.5],
    ["when", new DateTime("20261121T03:54:40Z")],
    ["tags", random.many(4, () => randomText(random))],
    ["other_config", tree(random, 3)],
    ["digits", ["12", "007"]],
  ]);
}

function event(random: Random, i: number): Logical {
  const operation = random.pick(["add", "mod", "del"]);
  const members: [string, Logical][] = [
    ["id", String(i)],
    ["timestamp", "0.0"],
    ["class", "thing"],
    ["operation", operation],
    ["ref", `OpaqueRef:${i}`],
  ];
  if (operation !== "del") members.push(["snapshot", thing(random, i)]);
  // XAPI's order is always the same but not documented.
  if (i % 3 === 0) members.reverse();
  return new Map(members);
}

/** Any value without integers, which XML-RPC does not distinguish from strings. */
function tree(random: Random, depth: number): Logical {
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
      return randomText(random);
    case 1:
      return random.next() < 0.5;
    case 2:
      return new Float(random.next());
    case 3:
      return new DateTime("19700101T00:00:00Z");
    case 4:
      return random.many(5, () => tree(random, depth - 1));
    default:
      return new Map(
        random.many(5, () => [
          randomText(random) || "key",
          tree(random, depth - 1),
        ]),
      );
  }
}
