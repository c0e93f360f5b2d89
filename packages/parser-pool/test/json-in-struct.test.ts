import t from "tap";
import { createParserPool } from "../src/index.js";
import { feed } from "./support/feed.js";

const escaped = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** An answer whose struct is XML-RPC and whose Value is one string of JSON. */
function answerOf(json: string, tagged: boolean): Buffer {
  const string = (text: string) =>
    `<value>${tagged ? `<string>${text}</string>` : text}</value>`;
  return Buffer.from(
    `<?xml version="1.0"?><methodResponse><params><param><value><struct><member><name>Status</name>${string("Success")}</member><member><name>Value</name>${string(escaped(json))}</member></struct></value></param></params></methodResponse>`,
  );
}

const values: readonly unknown[] = [
  "OpaqueRef:5e551011-0000-4000-8000-00000000cafe",
  'quoted " <&> ünï',
  "",
  [],
  ["a", ["b", 1.5, true, null]],
  {},
  { a: { b: ["<c>"] } },
];

for (const place of ["worker", "main"] as const)
  for (const tagged of [false, true])
    for (const [how, chunk] of [
      ["byte by byte", () => 1],
      ["in pieces of 37 bytes", () => 37],
      ["in one piece", () => Infinity],
    ] as const)
      t.test(
        `a struct whose Value is ${tagged ? "tagged " : ""}JSON is read ${how}, place ${place}`,
        async (t) => {
          const pool = createParserPool({ place, segmentBytes: 501 });
          t.teardown(() => pool.close());
          const encoding = "json-in-xml" as const;
          for (const value of values) {
            const body = answerOf(JSON.stringify(value), tagged);
            const options = { encoding, chunk, shape: "value" as const };
            const { answer } = await feed(pool, body, options);
            t.same(answer, { ...answer, outcome: "success", encoding, value });
          }
          const records = Object.fromEntries(
            Array.from({ length: 50 }, (_, i) => [
              `OpaqueRef:${i}`,
              { uuid: `u${i}`, name_label: `<${i}> & "more"` },
            ]),
          );
          const listed = await feed(
            pool,
            answerOf(JSON.stringify(records), tagged),
            { encoding, chunk, className: "VM" },
          );
          t.equal(listed.records.length, 50);
          t.match(listed.answer, { outcome: "success", encoding });
        },
      );

t.test("a struct whose Value is plain text stays XML-RPC", async (t) => {
  const pool = createParserPool({ place: "main" });
  t.teardown(() => pool.close());
  for (const text of ["OpaqueRef:1", "42", ""]) {
    const { answer } = await feed(pool, answerOf(text, false), {
      encoding: "json-in-xml",
      chunk: () => 1,
      shape: "value",
    });
    t.match(answer, { outcome: "success", encoding: "xml-rpc", value: text });
  }
});
