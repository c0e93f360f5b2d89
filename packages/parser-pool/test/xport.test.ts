import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createParserPool, type XportTable } from "../src/index.js";
import { Random } from "./support/random.js";

/** Made by XAPI's own serialisers; beside the repository, not in it. */
const folder = fileURLToPath(
  new URL("../../../../../shared/xapi/recordings/rrd/", import.meta.url),
);

const pool = createParserPool({ minThreads: 0 });
t.teardown(() => pool.close());

async function read(text: string | Buffer): Promise<XportTable> {
  return pool.readXport([new Uint8Array(Buffer.from(text))], "test");
}

function plain({ legend, values, step, end, rows, columns }: XportTable) {
  const names = Buffer.from(legend).toString().split("\n");
  const of = (row: number) => [
    ...values.subarray(row * columns, (row + 1) * columns),
  ];
  const table = Array.from({ length: rows }, (_, row) => of(row));
  return { step, end, names, rows: table };
}

/** Newest row first, as hosts answer. */
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

t.test("rows come oldest first, with NaN where nothing was", async (t) => {
  t.same(plain(await read(JSON_OF_TODAY)), expected);
});

t.test("older hosts write bare numbers and keys", async (t) => {
  const text = JSON_OF_TODAY.replace(/"([\w.+-]+)":/g, "$1:").replace(
    /"(-?[\d.]+(?:e\+\d+)?|NaN|Infinity)"/g,
    "$1",
  );
  t.match(text, /\{t:110,values:\[0.25,1e\+10,NaN\]\}/);
  t.same(plain(await read(text)), expected);
});

t.test("XML says the same", async (t) => {
  const entries = expected.names.map((name) => `<entry>${name}</entry>`);
  const text = `<?xml version="1.0"?>
<xport><meta><start>100</start><step>5</step><end>110</end><rows>2</rows>
<columns>3</columns><legend>${entries.join("")}</legend></meta><data>
<row><t>110</t><v>0.25</v><v>1e+10</v><v>NaN</v></row>
<row><t>105</t><v>0.0</v><v>-1.5</v><v>Infinity</v></row></data></xport>`;
  t.same(plain(await read(text)), expected);
});

t.test("a row that is missing is a gap", async (t) => {
  const text = JSON_OF_TODAY.replace('"t":"105"', '"t":"100"');
  const { rows } = plain(await read(text));
  t.same(rows, [expected.rows[0], [NaN, NaN, NaN], expected.rows[1]]);
});

t.test("legends with other names have another key", async (t) => {
  const one = await read(JSON_OF_TODAY);
  const same = await read(JSON_OF_TODAY.replace("0.25", "0.5"));
  const other = await read(JSON_OF_TODAY.replace("cpu0", "cpu1"));
  t.equal(one.legendKey, same.legendKey);
  t.not(one.legendKey, other.legendKey);
});

t.test("what is no such answer is refused", async (t) => {
  const bad = {
    empty: "",
    "an error page": "EXCEPTION Rrd.No_RRA_Available",
    "cut short": JSON_OF_TODAY.slice(0, -30),
    "cut in a string": JSON_OF_TODAY.slice(0, 90),
    "rows of two lengths": JSON_OF_TODAY.replace('"0.25",', ""),
    "a legend too short": JSON_OF_TODAY.replace('"AVERAGE:vm:a:cpu0",', ""),
    "no step": JSON_OF_TODAY.replace('"step":"5"', '"step":"0"'),
    "rows years apart": JSON_OF_TODAY.replace('"t":"105"', '"t":"5"'),
    "XML cut short": "<xport><meta><step>5</step><end>110</end>",
  };
  for (const [what, text] of Object.entries(bad))
    await t.rejects(read(text), { code: "BAD_ANSWER" }, what);
});

t.test("a large answer is read by a worker, in parts", async (t) => {
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
});

t.test("numbers are those that JavaScript reads", async (t) => {
  const seed = 20_261_121;
  t.comment(`seed ${seed}`);
  const random = new Random(seed);
  const texts = Array.from({ length: 2000 }, () => {
    const value =
      (random.next() - 0.5) * 10 ** Math.floor(random.next() * 40 - 20);
    return String(Number(value.toPrecision(15)));
  });
  const { values } = await read(
    `{"meta":{"step":"5","end":"5","legend":[${texts.map((_, i) => `"${i}"`).join()}]},"data":[{"t":"5","values":["${texts.join('","')}"]}]}`,
  );
  t.same([...values], texts.map(Number));
});

t.test("JSON cut anywhere is refused or read, never a crash", async (t) => {
  for (let length = 1; length < JSON_OF_TODAY.length; length++)
    await t.rejects(read(JSON_OF_TODAY.slice(0, length)), {
      code: "BAD_ANSWER",
    });
});

t.test(
  "recorded answers say the same in JSON and XML",
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
      t.same(table.names, meta.legend, name);
      t.same(
        table.rows,
        data.map(({ values }) => values.map(Number)).reverse(),
        name,
      );
      const xml = `${folder}${name}.xml`;
      if (!existsSync(xml)) continue;
      t.same(plain(await read(readFileSync(xml))), table, name);
      compared++;
    }
    t.ok(compared > 3, `${compared} in both dresses`);
  },
);
