import t from "tap";
import { formatFilter, parseFilter } from "@xo-server/filter";
import { readGroup } from "../src/filters/builder-read.js";
import {
  hasValue,
  NotShownError,
  operatorsOf,
  type BuilderGroup,
  type BuilderRow,
} from "../src/filters/builder-rows.js";
import { invalidRow, writeGroup } from "../src/filters/builder-write.js";
import { propertiesOf } from "../src/filters/properties.js";

const read = (text: string) => readGroup(parseFilter(text), "VM");
const write = (group: BuilderGroup) => formatFilter(writeGroup(group, "VM"));
const row = (
  path: string,
  operator: BuilderRow["operator"],
  value = "",
): BuilderRow => ({ kind: "row", path, operator, value });

const rows: [text: string, ...rows: BuilderRow[]][] = [
  [""],
  ["web", row("", "contains", "web")],
  ["!web", row("", "notContains", "web")],
  ["power_state:Running", row("power_state", "is", "Running")],
  ["!power_state:Running", row("power_state", "isNot", "Running")],
  ["memory:size:>=1024", row("memory.size", "atLeast", "1024")],
  ["CPUs:number:4", row("CPUs.number", "equal", "4")],
  ["now.cpu:>0.8", row("now.cpu", "above", "0.8")],
  ["auto_poweron?", row("auto_poweron", "yes")],
  ["!auto_poweron?", row("auto_poweron", "no")],
  ["name_label:/^web\\.1/", row("name_label", "starts", "web.1")],
  ["name_label:/^a\\/b$/", row("name_label", "is", "a/b")],
  ["name_label:/a|b/", row("name_label", "matches", "a|b")],
  ["name_label:web*", row("name_label", "like", "web*")],
  ["!os_version:name?", row("os_version.name", "none")],
  [
    "$pool:abc !tags:prod",
    row("$pool", "is", "abc"),
    row("tags", "notContains", "prod"),
  ],
  ["other:thing:x", row("other.thing", "contains", "x")],
];

for (const [text, ...parts] of rows)
  t.test(
    `${JSON.stringify(text)} is rows, and these are the same text`,
    async (t) => {
      const group = read(text);
      t.strictSame(group, { kind: "group", mode: "all", parts });
      t.equal(write(group), text);
    },
  );

t.test("groups are groups, also below a property", async (t) => {
  t.strictSame(read("a |(b (c d))"), {
    kind: "group",
    mode: "all",
    parts: [
      row("", "contains", "a"),
      {
        kind: "group",
        mode: "any",
        parts: [
          row("", "contains", "b"),
          {
            kind: "group",
            mode: "all",
            parts: [row("", "contains", "c"), row("", "contains", "d")],
          },
        ],
      },
    ],
  });
  t.equal(
    write(read("power_state:|(Running Halted)")),
    "|(power_state:Running power_state:Halted)",
  );
});

t.test(
  "a filter that no row can represent is refused, with its part",
  async (t) => {
    const parts: Record<string, string> = {
      "a !(b c)": "!(b c)",
      "tags:!x": "!x",
      "name_label:/X/i": "/X/i",
      "power_state:Runn": "Runn",
      "|(a (b |(c (d e))))": "d e",
      "!name_label:web*": "!name_label:web*",
    };
    for (const [text, part] of Object.entries(parts)) {
      let shown: string | undefined;
      try {
        read(text);
      } catch (error) {
        if (error instanceof NotShownError) shown = formatFilter(error.part);
      }
      t.equal(shown, part, text);
    }
  },
);

t.test("empty and invalid rows are left out", async (t) => {
  const parts = [
    row("name_label", "contains"),
    row("CPUs.number", "above", "many"),
    row("name_label", "matches", "("),
    row("tags", "is", "x"),
    { kind: "group", mode: "any", parts: [] } as const,
  ];
  t.equal(write({ kind: "group", mode: "any", parts }), "tags:/^x$/");
});

t.test("a row that would be left out is found", async (t) => {
  const found = (...parts: BuilderGroup["parts"]) =>
    invalidRow({ kind: "group", mode: "all", parts }, "VM");
  const name = row("$pool", "is");
  t.equal(found(name, row("tags", "is", "x")), undefined, "not filled in");
  const unknown = { ...name, unknownName: "no such pool" };
  const inner = { kind: "group", mode: "any", parts: [unknown] } as const;
  t.equal(found(row("tags", "is", "x"), inner), unknown);
  const pattern = row("name_label", "matches", "(");
  t.equal(found(pattern), pattern);
  t.equal(found(row("tags", "any")), undefined);
});

t.test(
  "every form that can be filled in survives conversion to a rule and back",
  async (t) => {
    let state = 7;
    const random = (limit: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    const pick = <T>(list: readonly T[]) => list[random(list.length)]!;
    const texts = ["web", "a b", 'q"\\', "x.y", "^a$", "(", "ü/ö"];
    const randomRow = (): BuilderRow => {
      const property = pick(propertiesOf("VM"));
      const operator = pick(operatorsOf(property.kind));
      if (!hasValue(operator)) return row(property.path, operator);
      if (property.kind === "choice")
        return row(property.path, operator, pick(property.choices!));
      if (property.kind === "number" || property.kind === "time")
        return row(property.path, operator, pick(["0", "1.5", "4096"]));
      if (operator === "like") return row(property.path, operator, "a*b");
      if (operator === "matches") return row(property.path, operator, "a|b+");
      return row(property.path, operator, pick(texts));
    };
    const randomGroup = (depth: number): BuilderGroup => ({
      kind: "group",
      mode: pick(["all", "any"] as const),
      parts: Array.from({ length: 2 + random(3) }, () =>
        depth > 0 && random(4) === 0 ? randomGroup(depth - 1) : randomRow(),
      ),
    });
    for (let run = 0; run < 3_000 && t.passing(); run++) {
      const group = randomGroup(2);
      const text = write(group);
      t.strictSame(read(text), group, `run ${String(run)}: ${text}`);
    }
  },
);
