import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createParserPool, type XportTable } from "../src/index.js";
import { Random } from "./support/random.js";

/** Written by XAPI's serializers; next to the repository, not part of it. */
const folder = fileURLToPath(
  new URL("../../../../../shared/xapi/recordings/rrd/", import.meta.url),
);

const pool = createParserPool({ minThreads: 0 });
t.teardown(() => pool.close());

async function read(
  text: string | Buffer,
  known?: string,
): Promise<XportTable> {
  return pool.readXport([new Uint8Array(Buffer.from(text))], "test", known);
}

function plain({ legend, values, step, end, rows, columns }: XportTable) {
  const lines = Buffer.from(legend!).toString().split("\n");
  const names = lines.flatMap((line) => {
    const [type, uuid, ...of] = line.split("\t");
    return of.map((name) => `AVERAGE:${type}:${uuid}:${name}`);
  });
  const of = (row: number) => [
    ...values.subarray(row * columns, (row + 1) * columns),
  ];
  const table = Array.from({ length: rows }, (_, row) => of(row));
  return { step, end, names, rows: table };
}

/** Newest row first, as hosts send them. */
const JSON_OF_TODAY = `{"meta":{"start":"100","step":"5","end":"110","rows":"2","columns":"3",
  "legend":["AVERAGE:vm:a:cpu0","AVERAGE:vm:a:memory","AVERAGE:host:b:x"]},
  "data":[{"t":"110","values":["0.25","1e+10","NaN"]},{"t":"105","values":["0.0","-1.5","Infinity"]}]}`;
const expected = {
  step: 5,
  end: 110,
  names: ["AVERAGE:vm:a:cpu0", "AVERAGE:vm:a:memory", "AVERAGE:host:b:x"],
  rows: [
    [0, -1.5, Infinity],
    [0.25, 1e10, NaN],
  ],
};

t.test(
  "rows are ordered oldest first, with NaN for missing values",
  async (t) => {
    t.same(plain(await read(JSON_OF_TODAY)), expected);
  },
);

t.test("bare numbers and keys of older hosts are decoded", async (t) => {
  const text = JSON_OF_TODAY.replace(/"([\w.+-]+)":/g, "$1:").replace(
    /"(-?[\d.]+(?:e\+\d+)?|NaN|Infinity)"/g,
    "$1",
  );
  t.match(text, /\{t:110,values:\[0.25,1e\+10,NaN\]\}/);
  t.same(plain(await read(text)), expected);
});

t.test("XML gives the same table as JSON", async (t) => {
  const entries = expected.names.map((name) => `<entry>${name}</entry>`);
  const text = `<?xml version="1.0"?>
<xport><meta><start>100</start><step>5</step><end>110</end><rows>2</rows>
<columns>3</columns><legend>${entries.join("")}</legend></meta><data>
<row><t>110</t><v>0.25</v><v>1e+10</v><v>NaN</v></row>
<row><t>105</t><v>0.0</v><v>-1.5</v><v>Infinity</v></row></data></xport>`;
  t.same(plain(await read(text)), expected);
});

t.test("a missing row is filled with NaN", async (t) => {
  const text = JSON_OF_TODAY.replace('"t":"105"', '"t":"100"');
  const { rows } = plain(await read(text));
  t.same(rows, [expected.rows[0], [NaN, NaN, NaN], expected.rows[1]]);
});

t.test("columns of an object are adjacent", async (t) => {
  const text = JSON_OF_TODAY.replace("vm:a:memory", "host:b:y:z").replace(
    "host:b:x",
    "vm:a:memory",
  );
  const { names, rows } = plain(await read(text));
  t.same(names, [
    "AVERAGE:vm:a:cpu0",
    "AVERAGE:vm:a:memory",
    "AVERAGE:host:b:y:z",
  ]);
  t.same(rows[1], [0.25, NaN, 1e10]);
});

t.test("entries other than averages of objects are left out", async (t) => {
  const text = JSON_OF_TODAY.replace("AVERAGE:vm:a:cpu0", "MAX:vm:a:cpu0");
  const { names, rows } = plain(await read(text));
  t.same(names, expected.names.slice(1));
  t.same(rows[1], [1e10, NaN]);
  const other = plain(await read(JSON_OF_TODAY.replace("vm:a:cpu0", "vm")));
  t.same(other.names, names);
});

t.test("a known legend is not decoded again", async (t) => {
  const { legendKey } = await read(JSON_OF_TODAY);
  const again = await read(JSON_OF_TODAY, legendKey);
  t.equal(again.legend, undefined);
  t.equal(again.columns, 3);
  const other = await read(JSON_OF_TODAY.replace("cpu0", "cpu1"), legendKey);
  t.ok(other.legend);
});

t.test("legends with other names have another key", async (t) => {
  const one = await read(JSON_OF_TODAY);
  const same = await read(JSON_OF_TODAY.replace("0.25", "0.5"));
  const other = await read(JSON_OF_TODAY.replace("cpu0", "cpu1"));
  t.equal(one.legendKey, same.legendKey);
  t.not(one.legendKey, other.legendKey);
});

t.test("other answers are rejected", async (t) => {
  const namesOf = (count: number) =>
    Array.from({ length: count }, (_, i) => `AVERAGE:host:a:source${i}`);
  const bad = {
    empty: "",
    "an error page": "EXCEPTION Rrd.No_RRA_Available",
    "cut short": JSON_OF_TODAY.slice(0, -30),
    "cut in a string": JSON_OF_TODAY.slice(0, 90),
    "rows of two lengths": JSON_OF_TODAY.replace('"0.25",', ""),
    "a legend too short": JSON_OF_TODAY.replace('"AVERAGE:vm:a:cpu0",', ""),
    "no step": JSON_OF_TODAY.replace('"step":"5"', '"step":"0"'),
    "rows years apart": JSON_OF_TODAY.replace('"t":"105"', '"t":"5"'),
    "an object with too many data sources": JSON.stringify({
      meta: { step: "5", end: "110", legend: namesOf(16_385) },
      data: [],
    }),
    "XML cut short": "<xport><meta><step>5</step><end>110</end>",
  };
  for (const [what, text] of Object.entries(bad))
    await t.rejects(read(text), { code: "BAD_ANSWER" }, what);
  const most = { step: "5", end: "110", legend: namesOf(16_384) };
  await t.resolves(read(JSON.stringify({ meta: most, data: [] })));
});

t.test(
  "a large answer is decoded by a worker, from several parts",
  async (t) => {
    const columns = 2000;
    const names = Array.from(
      { length: columns },
      (_, i) => `"AVERAGE:vm:v:c${i}"`,
    );
    const rows = Array.from(
      { length: 20 },
      (_, i) =>
        `{"t":"${1000 - 5 * i}","values":[${Array.from({ length: columns }, (_, c) => `"${c}.5"`).join()}]}`,
    );
    const body = Buffer.from(
      `{"meta":{"step":"5","end":"1000","legend":[${names.join()}]},"data":[${rows.join()}]}`,
    );
    const parts = [];
    for (let at = 0; at < body.length; at += 50_000)
      parts.push(new Uint8Array(body.subarray(at, at + 50_000)));
    const before = pool.stats().tasksByWorkers;
    const table = await pool.readXport(parts, "test");
    t.match(table, { rows: 20, columns, end: 1000 });
    t.same([...table.values.subarray(0, 3)], [0.5, 1.5, 2.5]);
    t.equal(pool.stats().tasksByWorkers, before + 1);
  },
);

t.test("numbers are parsed as by JavaScript", async (t) => {
  const seed = 20_261_121;
  t.comment(`seed ${seed}`);
  const random = new Random(seed);
  const texts = Array.from({ length: 2000 }, () => {
    const value =
      (random.next() - 0.5) * 10 ** Math.floor(random.next() * 40 - 20);
    return String(Number(value.toPrecision(15)));
  });
  const { values } = await read(
    `{"meta":{"step":"5","end":"5","legend":[${texts.map((_, i) => `"AVERAGE:vm:a:${i}"`).join()}]},"data":[{"t":"5","values":["${texts.join('","')}"]}]}`,
  );
  t.same(
    [...values],
    texts.map((text) => Math.fround(Number(text))),
  );
});

t.test(
  "JSON truncated at any byte is rejected or decoded, never a crash",
  async (t) => {
    for (let length = 1; length < JSON_OF_TODAY.length; length++)
      await t.rejects(read(JSON_OF_TODAY.slice(0, length)), {
        code: "BAD_ANSWER",
      });
  },
);

t.test(
  "recorded answers are the same in JSON and XML",
  { skip: existsSync(folder) ? false : "no recordings beside the repository" },
  async (t) => {
    const names = readdirSync(folder)
      .filter((name) => /^rrd_updates-.*\.json$/.test(name))
      .map((name) => name.slice(0, -5));
    let compared = 0;
    for (const name of names) {
      const json = readFileSync(`${folder}${name}.json`);
      if (json.toString().startsWith("EXCEPTION")) continue;
      const table = plain(await read(json));
      const { meta, data } = JSON.parse(json.toString()) as {
        meta: { legend: string[]; rows: string };
        data: { values: string[] }[];
      };
      const isAverage = meta.legend.map((entry) => /^AVERAGE:/.test(entry));
      t.same(
        table.names,
        meta.legend.filter((_, i) => isAverage[i]),
        name,
      );
      const numbers = ({ values }: { values: string[] }) =>
        values
          .filter((_, i) => isAverage[i])
          .map((value) => Math.fround(Number(value)));
      t.same(table.rows, data.map(numbers).reverse(), name);
      const xml = `${folder}${name}.xml`;
      if (!existsSync(xml)) continue;
      t.same(plain(await read(readFileSync(xml))), table, name);
      compared++;
    }
    t.ok(compared > 3, `${compared} in both formats`);
  },
);

const DOCUMENT = `{"version":"0003","step":"5","lastupdate":"1003.25",
  "ds":[{"name":"cpu0","max":"1"},{"name":"memory"}],"rra":[
  {"cf":"AVERAGE","pdp_per_row":"12","params":{},"cdp_prep":{"ds":[{"value":"0"}]},"database":[["0.5","7"]]},
  {"cf":"MAX","pdp_per_row":"1","database":[["9","9"]]},
  {"cf":"AVERAGE","pdp_per_row":"1","database":[["NaN","1"],["0.25","2"]]}]}`;

const readRrd = (text: string | Buffer) =>
  pool.readRrd([new Uint8Array(Buffer.from(text))], "test");

t.test("a document gives a table for each archive of averages", async (t) => {
  const names = ["AVERAGE:vm::cpu0", "AVERAGE:vm::memory"];
  t.same((await readRrd(DOCUMENT)).map(plain), [
    {
      step: 5,
      end: 1000,
      names,
      rows: [
        [NaN, 1],
        [0.25, 2],
      ],
    },
    { step: 60, end: 960, names, rows: [[0.5, 7]] },
  ]);
});

t.test("an invalid document is rejected, truncated at any byte", async (t) => {
  for (let length = 0; length < DOCUMENT.length; length += 7)
    await t.rejects(readRrd(DOCUMENT.slice(0, length)), { code: "BAD_ANSWER" });
  const bad = {
    XML: "<rrd></rrd>",
    "no time": DOCUMENT.replace('"lastupdate":"1003.25",', ""),
    "no step": DOCUMENT.replace('"step":"5",', ""),
    "a row too short": DOCUMENT.replace('["0.25","2"]', '["0.25"]'),
    "more names than values": DOCUMENT.replace('"ds":[', '"ds":[{"name":"x"},'),
  };
  for (const [what, text] of Object.entries(bad))
    await t.rejects(readRrd(text), { code: "BAD_ANSWER" }, what);
});

t.test(
  "a recorded document is decoded",
  { skip: existsSync(folder) ? false : "no recordings beside the repository" },
  async (t) => {
    const text = readFileSync(`${folder}vm_rrd.json`);
    const { ds, rra } = JSON.parse(text.toString()) as {
      ds: { name: string }[];
      rra: { cf: string; database: string[][] }[];
    };
    const tables = (await readRrd(text)).map(plain);
    t.same(
      tables.map(({ step, rows }) => [step, rows.length]),
      [
        [5, 120],
        [60, 120],
        [3600, 168],
        [86_400, 366],
      ],
    );
    const averages = rra.filter(({ cf }) => cf === "AVERAGE");
    for (const [i, { names, rows }] of tables.entries()) {
      t.same(
        names,
        ds.map(({ name }) => `AVERAGE:vm::${name}`),
      );
      t.same(
        rows,
        averages[i]!.database.map((row) =>
          row.map((value) => Math.fround(Number(value))),
        ),
      );
    }
  },
);
