import t from "tap";
import { toSeconds, toWholeSeconds } from "../src/views/values/instant.js";
import { toInteger, toNumber } from "../src/views/values/integer.js";
import { toTextList } from "../src/views/values/lists.js";
import {
  setMember,
  toIntegerMap,
  toMaskedMap,
  toTextMap,
} from "../src/views/values/maps.js";
import { isSecretName } from "../src/views/values/secret-names.js";
import { readXmlElements } from "../src/views/values/xml-elements.js";

t.test("integers are numbers, texts or BigInts", async (t) => {
  t.equal(toInteger(7), 7);
  t.equal(toInteger("-12"), -12);
  t.equal(toInteger("9007199254740993"), 9007199254740992, "the nearest");
  t.equal(toInteger(2n ** 60n), 2 ** 60);
  for (const none of [
    "",
    "-",
    "x",
    "1.5",
    "0x10",
    " 1",
    1.5,
    NaN,
    null,
    [],
    {},
  ])
    t.equal(toInteger(none), undefined, typeof none);
});

t.test("no integer is too long for a reader with 64 bits", async (t) => {
  for (const value of [
    2n ** 63n - 1n,
    2n ** 200n,
    "9223372036854775807",
    1e300,
    -1e300,
    -(2n ** 63n),
  ]) {
    const text = JSON.stringify(toInteger(value));
    t.match(text, /^-?\d+$/, "no exponent");
    t.ok(BigInt(text) <= 2n ** 63n - 1n && BigInt(text) >= -(2n ** 63n), text);
  }
  t.equal(toInteger("9".repeat(21)), undefined);
});

t.test("numbers are those that JSON can hold", async (t) => {
  t.equal(toNumber(0.25), 0.25);
  t.equal(toNumber("0.5"), 0.5);
  for (const none of [NaN, Infinity, "", " ", "x", null, true, {}])
    t.equal(toNumber(none), undefined, typeof none);
});

t.test("dates become seconds, in all their formats", async (t) => {
  const expected = Date.UTC(2026, 0, 2, 3, 4, 5) / 1000;
  for (const text of [
    "20260102T03:04:05Z",
    "20260102T03:04:05",
    "2026-01-02T03:04:05Z",
    "20260102T03:04:05.678Z",
  ])
    t.equal(toSeconds(text), expected, text);
});

t.test("1970 means never, an invalid date means none", async (t) => {
  for (const text of [
    "19700101T00:00:00Z",
    "",
    "never",
    "20260102",
    "20260102T03:04",
    "2026x102T03:04:05Z",
    "20260102T03:04:05+02:00",
    "20260102T03-04-05Z",
    "20260102T03:04:05.6",
    "20260102T03:04:05xZ",
    12,
    null,
  ])
    t.equal(toSeconds(text), undefined, String(text));
  t.equal(toWholeSeconds("1790000000.7"), 1790000000);
  for (const text of ["", "0", "-5", "soon", "1e300", 12])
    t.equal(toWholeSeconds(text), undefined, String(text));
});

t.test("a clean map or list is passed on, not copied", async (t) => {
  const map = { a: "b" };
  t.equal(toTextMap(map), map);
  t.equal(toMaskedMap(map), map);
  const list = ["a"];
  t.equal(toTextList(list), list);
});

t.test("unsuitable members of a map or list are left out", async (t) => {
  t.same(toTextMap({ a: "b", c: 1, d: null, e: [] }), { a: "b" });
  t.same(toMaskedMap({ a: "b", c: NaN, d: 1n }), { a: "b" });
  t.same(toIntegerMap({ a: "1", b: 2, c: "x" }), { a: 1, b: 2 });
  t.same(toTextList(["a", 1, null, {}]), ["a"]);
  for (const none of [undefined, null, "x", 7, ["a"]]) {
    t.same(toTextMap(none), {});
    t.same(toMaskedMap(none), {});
  }
  t.same(toTextList({ 0: "a" }), []);
});

t.test("a key called __proto__ is a key like any other", async (t) => {
  const parsed = (text: string) => JSON.parse(text) as unknown;
  for (const convert of [toTextMap, toMaskedMap])
    for (const text of [
      `{"__proto__":"x"}`,
      `{"__proto__":"x","dropped":7}`,
      `{"__proto__":"x","password":"y"}`,
    ]) {
      const map = convert(parsed(text));
      t.ok(Object.hasOwn(map, "__proto__"), text);
      t.equal(Object.getPrototypeOf(map), Object.prototype);
    }
  const nested = toTextMap(parsed(`{"__proto__":{"polluted":"x"}}`));
  t.equal(nested.polluted, undefined);
  const map: Record<string, number> = {};
  setMember(map, "__proto__", 1);
  t.equal(JSON.stringify(map), `{"__proto__":1}`);
});

t.test("names of secrets", async (t) => {
  for (const name of [
    "password",
    "PASSWORD",
    "chappassword",
    "incoming_chappassword",
    "cifspassword_secret",
    "wlb_password",
    "passwd",
    "pass",
    "s3-secret",
    "private_key",
    "access-key",
    "api_token",
    "ssh_passphrase",
  ])
    t.ok(isSecretName(name), name);
  for (const name of [
    "username",
    "chapuser",
    "location",
    "server",
    "SCSIid",
    "pci_passthrough",
    "secureboot",
    "auto_poweron",
    "xo:notes",
    "iscsi_iqn",
    "bypass",
    "keymap",
    "restrict_pool_secret_rotation",
  ])
    t.notOk(isSecretName(name), name);
});

t.test("the cache of names of secrets is bounded", async (t) => {
  for (let i = 0; i < 20_000; i++)
    if (isSecretName(`xo:${i}`)) t.fail(`xo:${i}`);
  t.ok(isSecretName("password"));
  t.notOk(isSecretName("location"));
});

t.test("an unset secret shows as unset", async (t) => {
  t.same(toMaskedMap({ password: "", a: "b" }), { password: "", a: "b" });
});

t.test("passwords are masked inside texts too", async (t) => {
  const mask = "* obfuscated *";
  for (const [text, expected] of [
    ["http://me:secret@host/x", `http://me:${mask}@host/x`],
    ["http://:secret@host", `http://:${mask}@host`],
    [
      "-o username=me,password=secret,vers=3",
      `-o username=me,password=${mask},vers=3`,
    ],
    ["PASS=secret", `PASS=${mask}`],
    ["db_pass=secret", `db_pass=${mask}`],
    ["mypassword=secret", `mypassword=${mask}`],
    ["http://host:80/a@b", "http://host:80/a@b"],
    ["http://host/x?a=b", "http://host/x?a=b"],
    ["bypass=1", "bypass=1"],
    ["me:secret@host", "me:secret@host"],
  ] as const)
    t.equal(toMaskedMap({ options: text }).options, expected, text);
  t.match(toMaskedMap({ a: `${"://a:b".repeat(10_000)}` }), {});
  t.match(toMaskedMap({ a: "pass=".repeat(10_000) }), {});
});

t.test("small XML is read in document order", async (t) => {
  const text = `<?xml version="1.0"?><!-- <disk size="1"/> --><a>
    <disk size="2" name='x y'/><b c="&amp;&lt;"></b > text </a>`;
  t.same(
    readXmlElements(text)?.map(({ name, attributes }) => [
      name,
      Object.fromEntries(attributes),
    ]),
    [
      ["a", {}],
      ["disk", { size: "2", name: "x y" }],
      ["b", { c: "&amp;&lt;" }],
    ],
    "entities stay as written",
  );
  t.same(readXmlElements(""), []);
});

t.test("XML that is not small or not well-formed is not read", async (t) => {
  for (const text of [
    "<a>",
    "</a>",
    "<a></b>",
    "<a b=c/>",
    `<a b="c/>`,
    `<a b="<"/>`,
    "<a",
    "<",
    "<!-- a",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>",
    "<![CDATA[a]]>",
    "<a/>".repeat(300),
    `<a b="${"c".repeat(70_000)}"/>`,
    "<a".repeat(30_000),
    `<a ${" ".repeat(60_000)}`,
    `<a b${" ".repeat(60_000)}`,
    "<".repeat(60_000),
  ])
    t.equal(
      readXmlElements(text),
      undefined,
      `${text.slice(0, 30)} (${text.length})`,
    );
});
