import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseLenient } from "@xo-server/model";
import t from "tap";
import type { XapiRecord } from "../src/store/record-rows.js";
import { viewOf, views } from "../src/views/views.js";
import {
  buildAll,
  RecordLinks,
  type Records,
} from "./fixtures/record-links.js";
import { samplePool } from "./fixtures/sample-pool.js";

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Mulberry32. */
function randomOf(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a record may have in place of what belongs there. */
const invalidValues: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1.5,
  () => NaN,
  () => -Infinity,
  () => 2n ** 63n - 1n,
  () => "",
  () => "unheard-of",
  () => "9".repeat(30),
  () => "<a".repeat(100),
  () => "{".repeat(100),
  () => [],
  () => [null, 1, {}, ["x"], "OpaqueRef:NULL"],
  () => ({}),
  () => ({ a: null, b: 2n, c: NaN, d: { e: [] } }),
  () =>
    JSON.parse(`{"__proto__":{"polluted":"yes"},"constructor":"x"}`) as unknown,
  () => "__proto__",
];

t.test(`no record, however odd, breaks a view (SEED=${seed})`, async (t) => {
  const random = randomOf(seed);
  for (let round = 0; round < 300; round++) {
    const records = corruptAll(samplePool, random);
    try {
      for (const object of buildAll(records)) assertJson(object, "");
    } catch (error) {
      t.fail(`round ${round}: ${String(error)}`);
      return;
    }
  }
  t.equal(({} as Record<string, unknown>).polluted, undefined);
  t.pass();
});

t.test("an empty record is an object all the same", async (t) => {
  const links = new RecordLinks({});
  for (const view of views) {
    const built = view.build({ ref: "OpaqueRef:a", record: {}, links });
    assertJson(built, view.className);
    t.ok(view.types.includes(view.typeOf({})), view.className);
  }
});

t.test("a record is not changed by its view", async (t) => {
  const before = JSON.stringify(samplePool);
  buildAll(samplePool);
  t.equal(JSON.stringify(samplePool), before);
});

const recordings = join(
  dirname(findRoot(dirname(fileURLToPath(import.meta.url)))),
  "shared",
  "xapi",
  "recordings",
);
const skip = existsSync(recordings)
  ? false
  : "no recordings of a real XAPI beside this repository (../shared/xapi)";

t.test("records of a real XAPI give valid objects", { skip }, async (t) => {
  for (const name of ["records", "real-records"]) {
    const records = readRecords(name);
    const objects = buildAll(records);
    t.ok(objects.length > 0, `${name}: ${objects.length} objects`);
    const ids = new Set(objects.map(({ id }) => id));
    const created = new Set(objects.map(({ type }) => type));
    for (const object of objects) {
      assertJson(object, String(object.type));
      for (const link of linksOf(object))
        if (!ids.has(link)) t.fail(`${String(object.type)}: ${link} is lost`);
    }
    t.ok(created.has("host") && created.has("pool"), [...created].join(" "));
  }
});

/** Each record with some fields removed or replaced, also nested ones. */
function corruptAll(records: Records, random: () => number): Records {
  return Object.fromEntries(
    Object.entries(records).map(([className, members]) => [
      className,
      Object.fromEntries(
        Object.entries(members).map(([ref, record]) => [
          ref,
          corrupt(record, random, 0.2),
        ]),
      ),
    ]),
  );
}

function corrupt(
  record: XapiRecord,
  random: () => number,
  share: number,
): XapiRecord {
  const damaged: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    if (random() < share) {
      const odd = invalidValues[Math.floor(random() * invalidValues.length)]!();
      if (random() < 0.7) damaged[field] = odd;
    } else if (typeof value === "object" && !Array.isArray(value))
      damaged[field] = corrupt(value as XapiRecord, random, share);
    else damaged[field] = value;
  }
  return damaged;
}

/** @throws Error for what JSON cannot carry as it is */
function assertJson(value: unknown, path: string): void {
  if (value === undefined) throw new Error(`${path} is undefined`);
  if (typeof value === "number" && !Number.isFinite(value))
    throw new Error(`${path} is ${value}`);
  if (typeof value === "bigint") throw new Error(`${path} is a BigInt`);
  if (typeof value !== "object" || value === null) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype)
    throw new Error(`${path} has a prototype of its own`);
  for (const [key, member] of Object.entries(value))
    assertJson(member, `${path}.${key}`);
}

/** Ids in fields that are links to objects with a view. */
function linksOf(object: Readonly<Record<string, unknown>>): string[] {
  const links: string[] = [];
  for (const field of [
    "$container",
    "$host",
    "$network",
    "$SR",
    "$VM",
    "$VBDs",
    "$PBDs",
    "VIFs",
    "VDIs",
    "PIFs",
    "VM",
    "VDI",
    "host",
    "SR",
    "master",
    "snapshots",
    "residentVms",
    "controlDomain",
  ]) {
    const value = object[field];
    if (typeof value === "string") links.push(value);
    if (Array.isArray(value)) links.push(...(value as string[]));
  }
  return links;
}

/** The recorded answers to get_all_records, of classes that views read. */
function readRecords(prefix: string): Records {
  const name = new RegExp(`^\\d+-${prefix}-(\\w+)-json2\\.response$`);
  const records: Record<string, Record<string, XapiRecord>> = {};
  for (const file of readdirSync(recordings)) {
    const className = name.exec(file)?.[1];
    if (className === undefined) continue;
    const text = readFileSync(join(recordings, file), "utf8");
    const body = parseLenient(text.slice(text.indexOf("\r\n\r\n") + 4)) as {
      result?: Record<string, XapiRecord>;
    };
    if (body.result && (viewOf(className) ?? className.endsWith("_metrics")))
      records[className] = body.result;
  }
  return records;
}

function findRoot(from: string): string {
  let folder = from;
  while (!existsSync(join(folder, "package-lock.json")))
    folder = dirname(folder);
  return folder;
}
