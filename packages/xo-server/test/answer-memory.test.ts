import { Readable } from "node:stream";
import { createParserPool } from "@xo-server/parser-pool";
import t from "tap";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import {
  fetchArchives,
  fetchMeasurements,
  type StatsHost,
} from "../src/stats/fetch-measurements.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";

const MIB = 1024 * 1024;
const parser = createParserPool({ place: "main" });
const few = { step: 5, start: -15, rows: 3 };

function setUp(limitBytes?: number) {
  const memory = new AnswerMemory(limitBytes);
  return { memory, parts: { parser, clock: new FakeClock(), memory } };
}

/** A host whose answers consist of these chunks. */
function hostOf(
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = Readable.from(chunks, { objectMode: true, highWaterMark: 1 });
  const host: StatsHost = {
    id: "h",
    pool: "p",
    address: "192.0.2.1",
    xapi: {
      getStream: async () => ({ status: 200, headers, task: undefined, body }),
    },
  };
  return { host, body };
}

/** Chunks of 1 MiB without end; counts those that were read. */
function endless() {
  const sent = { chunks: 0 };
  const chunk = Buffer.alloc(MIB, " ");
  return {
    sent,
    *[Symbol.iterator]() {
      for (;;) {
        sent.chunks++;
        yield chunk;
      }
    },
  };
}

t.test(
  "an endless answer is refused at what the requested rows can take",
  async (t) => {
    const { memory, parts } = setUp();
    const chunks = endless();
    const { host, body } = hostOf(chunks);
    await t.rejects(fetchMeasurements(host, few, parts), {
      code: "ANSWER_TOO_LARGE",
    });
    t.ok(body.destroyed);
    t.ok(chunks.sent.chunks <= 16, `${chunks.sent.chunks} MiB were received`);
    t.equal(memory.bytes, 0);
  },
);

for (const [only, most] of [
  ["v", 28],
  ["h", 100],
] as const)
  t.test(`a year of ${only} alone may have ${most} MiB`, async (t) => {
    const { parts } = setUp();
    const chunks = endless();
    const { host } = hostOf(chunks);
    const year = { step: 86_400, start: -366 * 86_400, rows: 366, only };
    await t.rejects(fetchMeasurements(host, year, parts), {
      code: "ANSWER_TOO_LARGE",
    });
    t.ok(chunks.sent.chunks <= most, `${chunks.sent.chunks} MiB were received`);
    t.ok(chunks.sent.chunks > most / 2);
  });

t.test(
  "a body that the time limit cuts off is not taken for a complete one",
  async (t) => {
    const clock = new FakeClock();
    const parts = { parser, clock, memory: new AnswerMemory() };
    const body = new Readable({ read: () => undefined });
    const host: StatsHost = {
      id: "h",
      pool: "p",
      address: "192.0.2.1",
      xapi: {
        getStream: async ({ signal }) => {
          // As Node.js ends a body without a length.
          signal!.addEventListener("abort", () => void body.push(null));
          return { status: 200, headers: {}, task: undefined, body };
        },
      },
    };
    const fetched = fetchMeasurements(host, few, parts);
    body.push('{"meta": {"step": 5');
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(30_000);
    await t.rejects(fetched, { code: "CALL_TIMEOUT" });
  },
);

t.test("an endless archive of a halted VM is refused", async (t) => {
  const { memory, parts } = setUp();
  const chunks = endless();
  const { host } = hostOf(chunks);
  await t.rejects(fetchArchives("v", host.xapi, parts), {
    code: "ANSWER_TOO_LARGE",
  });
  t.ok(chunks.sent.chunks <= 40, `${chunks.sent.chunks} MiB were received`);
  t.equal(memory.bytes, 0);
});

t.test("an answer whose length is too large is not read", async (t) => {
  const { parts } = setUp();
  const chunks = endless();
  const { host, body } = hostOf(chunks, {
    "content-length": String(100 * MIB),
  });
  await t.rejects(fetchMeasurements(host, few, parts), {
    code: "ANSWER_TOO_LARGE",
    data: { bytes: 100 * MIB },
  });
  t.ok(body.destroyed);
  t.equal(chunks.sent.chunks, 0);
});

t.test("more rows may take more bytes", async (t) => {
  const { parts } = setUp();
  const blanks = Array.from({ length: 20 }, () => Buffer.alloc(MIB, " "));
  const text =
    '{"meta": {"step": 5, "end": 15, "legend": ["AVERAGE:host:h:cpu_avg"]}, "data": [{"t": 15, "values": [0.5]}]}';
  const { host } = hostOf([...blanks, Buffer.from(text)]);
  const table = await fetchMeasurements(host, { ...few, rows: 120 }, parts);
  t.same([...table.values], [0.5]);
});

t.test(
  "if answers exceed the memory together, the largest is refused and the others are not",
  async (t) => {
    const { memory, parts } = setUp(4 * MIB);
    let open = () => undefined as void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const large = hostOf(
      (async function* () {
        yield Buffer.alloc(3 * MIB, " ");
        await opened;
      })(),
    );
    const refused = fetchMeasurements(large.host, few, parts);
    refused.catch(() => undefined);
    while (memory.bytes < 3 * MIB)
      await new Promise((resolve) => setImmediate(resolve));
    const working = new FakeHost("h1");
    working.measures = { "host:h1:cpu_avg": () => 1 };
    const padded = await fetchMeasurements(
      padding(working, 2 * MIB),
      few,
      parts,
    );
    t.equal(padded.rows, 3);
    t.ok(large.body.destroyed);
    open();
    await t.rejects(refused, {
      code: "ANSWER_TOO_LARGE",
      data: { limit: 4 * MIB },
    });
    t.equal(memory.bytes, 0);
  },
);

/** The same host, with blanks before its answers. */
function padding(host: FakeHost, bytes: number): StatsHost {
  return {
    id: host.id,
    pool: host.pool,
    address: host.address,
    xapi: {
      getStream: async (options) => {
        const answer = await host.xapi.getStream(options);
        async function* padded() {
          yield Buffer.alloc(bytes, " ");
          yield* answer.body;
        }
        return { ...answer, body: Readable.from(padded()) };
      },
    },
  };
}
