import { existsSync, readFileSync } from "node:fs";
import t from "tap";
import { archives, chooseArchive } from "../src/rrd/archives.js";
import { makeMetrics } from "../src/rrd/metric.js";
import { toRrdNumber } from "../src/rrd/number-text.js";
import { rrdJson, rrdXml } from "../src/rrd/rrd-document.js";
import { makeXport, xportJson, xportXml } from "../src/rrd/xport.js";
import { NOW, startServer } from "./transfer-client.js";

interface XportDocument {
  readonly meta: Record<
    "start" | "step" | "end" | "rows" | "columns",
    string
  > & { readonly legend: string[] };
  readonly data: readonly { readonly t: string; readonly values: string[] }[];
}

const metrics = makeMetrics("22222222-2222-2222-2222-222222222222", [
  {
    name: "cpu0",
    description: "",
    units: "(fraction)",
    max: 1,
    low: 0,
    high: 1,
  },
  {
    name: "memory",
    description: "",
    units: "B",
    low: 4294967296,
    high: 4294967296,
  },
]);
const columns = metrics.map((metric) => ({
  owner: "vm" as const,
  uuid: "22222222-2222-2222-2222-222222222222",
  metric,
}));
/** The last update of the recorded documents. */
const RECORDED_NOW = 1700007200;

t.test("numbers are those of printf %0.15g, zero is 0.0", async (t) => {
  t.equal(toRrdNumber(0), "0.0");
  t.equal(toRrdNumber(4294967296), "4294967296");
  t.equal(toRrdNumber(0.1 + 0.2), "0.3");
  t.equal(toRrdNumber(1 / 3), "0.333333333333333");
  t.equal(toRrdNumber(0.00001234), "1.234e-05");
  t.equal(toRrdNumber(1.5e300), "1.5e+300");
  t.equal(toRrdNumber(NaN), "NaN");
  t.equal(toRrdNumber(Infinity), "Infinity");
});

t.test("start and interval pick the archive", async (t) => {
  const steps = (start: number, interval: number) =>
    chooseArchive(RECORDED_NOW, start, interval).step;
  t.equal(steps(RECORDED_NOW - 60, 0), 5);
  t.equal(steps(RECORDED_NOW - 60, 60), 60);
  t.equal(steps(RECORDED_NOW - 3600, 0), 60);
  t.equal(steps(RECORDED_NOW - 86400, 0), 3600);
  t.equal(steps(0, 0), 86400);
  t.strictSame(
    archives.map(({ rows }) => rows),
    [120, 120, 168, 366],
  );
});

/** Recorded document, and what was asked (start relative to its last update). */
const asked: readonly (readonly [string, number, number])[] = [
  ["rrd_updates-vm-last60s-nocf", RECORDED_NOW - 60, 0],
  ["rrd_updates-vm-start-negative", -60, 0],
  ["rrd_updates-vm-start-future", RECORDED_NOW + 1000, 0],
  ["rrd_updates-vm-start-zero", 0, 0],
  ["rrd_updates-vm-minute-average", RECORDED_NOW - 1800, 60],
  ["rrd_updates-vm-hour", RECORDED_NOW - 7200, 3600],
];
const recordings = new URL(
  "../../../../../shared/xapi/recordings/rrd/",
  import.meta.url,
);
const absent = existsSync(recordings) ? false : "the recordings are not here";

t.test(
  "times, steps and rows are those of the real serialiser",
  { skip: absent },
  async (t) => {
    for (const [name, start, interval] of asked) {
      const recorded = JSON.parse(
        readFileSync(new URL(`${name}.json`, recordings), "utf8"),
      ) as XportDocument;
      const ours = JSON.parse(
        xportJson(makeXport(columns, { start, interval }, RECORDED_NOW + 0.25)),
      ) as XportDocument;
      const { start: from, step, end, rows } = recorded.meta;
      t.match(ours.meta, { start: from, step, end, rows }, name);
      t.strictSame(
        ours.data.map((row) => row.t),
        recorded.data.map((row) => row.t),
        name,
      );
      t.strictSame(Object.keys(ours.meta), Object.keys(recorded.meta));
    }
  },
);

t.test(
  "documents have the shape of the recorded ones",
  { skip: absent },
  async (t) => {
    const shape = (xml: string) => [...new Set(xml.match(/<[a-z_]+>/g))];
    const xml = (name: string) =>
      readFileSync(new URL(name, recordings), "utf8");
    t.strictSame(
      shape(
        xportXml(makeXport(columns, { start: -60, interval: 0 }, RECORDED_NOW)),
      ),
      shape(xml("rrd_updates-vm-start-negative.xml")),
    );
    t.strictSame(
      shape(rrdXml(metrics, RECORDED_NOW + 0.25)),
      shape(xml("vm_rrd.xml")),
    );
    const keys = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.slice(0, 1).map(keys)
        : typeof value === "object" && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([key, member]) => [key, keys(member)]),
            )
          : typeof value;
    t.strictSame(
      keys(JSON.parse(rrdJson(metrics, RECORDED_NOW + 0.25))),
      keys(JSON.parse(xml("vm_rrd.json"))),
    );
  },
);

t.test("values depend only on owner, name and time", async (t) => {
  const one = makeXport(columns, { start: -60, interval: 0 }, RECORDED_NOW);
  const later = makeXport(
    columns,
    { start: -120, interval: 0 },
    RECORDED_NOW + 30,
  );
  const row = one.rows[0]!;
  t.strictSame(
    later.rows.find(({ t }) => t === row.t),
    row,
  );
  t.ok(row.values[0]! >= 0 && row.values[0]! <= 1);
});

t.test("a host reports its VMs, itself and SRs on request", async (t) => {
  const { pool, get, call } = await startServer();
  t.teardown(() => pool.stop());
  t.match((await get("/rrd_updates")).status, /^HTTP\/1\.1 400 /);
  const start = Math.floor(NOW / 1000) - 60;
  const plain = await get(`/rrd_updates?start=${start}`);
  t.match(plain.status, /^HTTP\/1\.1 200 OK$/);
  t.match(plain.headers.get("content-type"), "text/xml");
  t.match(
    plain.body.toString(),
    /^<\?xml version="1.0" encoding="UTF-8"\?>\n<xport><meta><start>/,
  );
  t.notMatch(plain.body.toString(), /AVERAGE:host/);

  const flagged = await get(
    `/rrd_updates?start=${start}&host=true&json=false&cf=AVERAGE`,
  );
  const document = JSON.parse(flagged.body.toString()) as XportDocument;
  t.equal(document.meta.step, "5");
  t.equal(document.meta.end, String(Math.floor(NOW / 5000) * 5));
  t.equal(Number(document.meta.columns), document.meta.legend.length);
  t.ok(document.meta.legend.some((entry) => entry.startsWith("AVERAGE:host:")));
  t.ok(document.data[0]!.values.every((value) => typeof value === "string"));
  t.ok(
    Number(document.data[0]!.t) > Number(document.data[1]!.t),
    "newest row first",
  );

  const accepted = await get(
    `/rrd_updates?start=${start}&json=true`,
    "Accept: text/xml\r\n",
  );
  t.match(accepted.body.toString(), /^<\?xml/, "an Accept header decides");
  t.match((await get(`/rrd_updates?start=${start}&cf=MAX`)).status, / 500 /);

  const srs = (await call("SR.get_all_records")) as Record<
    string,
    { uuid: string; type: string }
  >;
  const { uuid } = Object.values(srs).find(({ type }) => type === "nfs")!;
  const withSr = await get(`/rrd_updates?start=${start}&sr_uuid=${uuid}&json`);
  t.match(withSr.body.toString(), `AVERAGE:sr:${uuid}:physical_utilisation`);
});

t.test(
  "complete documents: of the host, of a VM, of an SR; 404 and 400 where there is none",
  async (t) => {
    const { pool, get, call } = await startServer();
    t.teardown(() => pool.stop());
    const host = await get("/host_rrd?json=true");
    t.equal(host.status, "HTTP/1.0 200 OK");
    t.equal(host.headers.has("content-length"), false);
    const document = JSON.parse(host.body.toString()) as {
      rra: { database: unknown[] }[];
      version: string;
    };
    t.equal(document.version, "0003");
    t.strictSame(
      document.rra.map(({ database }) => database.length),
      [120, 120, 168, 366],
    );
    const [master] = (await call("host.get_all")) as string[];
    const [vm] = (await call("host.get_resident_VMs", master)) as string[];
    const uuid = (await call("VM.get_uuid", vm)) as string;
    t.match(
      (await get(`/vm_rrd?uuid=${uuid}`)).body.toString(),
      /<name>cpu0<\/name><type>DERIVE<\/type>/,
    );
    t.match((await get("/vm_rrd")).status, / 400 /);
    t.match(
      (await get("/vm_rrd?uuid=00000000-0000-0000-0000-000000000000")).status,
      / 404 /,
    );
    t.match((await get("/sr_rrd")).status, / 400 /);
  },
);

t.test("data sources have values of now", async (t) => {
  const { pool, call } = await startServer();
  t.teardown(() => pool.stop());
  const [host] = (await call("host.get_all")) as string[];
  const sources = (await call("host.get_data_sources", host)) as {
    name_label: string;
    units: string;
    value: number;
  }[];
  const cpu = sources.find(({ name_label }) => name_label === "cpu0")!;
  t.equal(cpu.units, "(fraction)");
  t.equal(await call("host.query_data_source", host, "cpu0"), cpu.value);
});
