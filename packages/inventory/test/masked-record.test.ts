import t from "tap";
import { toMaskedRecord } from "../src/views/masked-record.js";
import { MASK } from "../src/views/values/secret-names.js";

t.test("secrets are masked in all places", async (t) => {
  const masked = toMaskedRecord({
    name_label: "nfs",
    device_config: { server: "10.0.0.1", cifspassword: "abc" },
    wlb_password: "OpaqueRef:5",
    location: "https://joe:abc@mirror.example/repo",
    options: ["ro", "password=abc"],
    nested: { a: { b: { secret_key: "abc", c: "fine" } } },
    last_booted_record: "('struct' ('token' 'abc'))",
  });
  t.same(masked, {
    name_label: "nfs",
    device_config: { server: "10.0.0.1", cifspassword: MASK },
    wlb_password: MASK,
    location: `https://joe:${MASK}@mirror.example/repo`,
    options: ["ro", `password=${MASK}`],
    nested: { a: { b: { secret_key: MASK, c: "fine" } } },
    last_booted_record: MASK,
  });
  t.notMatch(JSON.stringify(masked), /abc/);
});

t.test("values without secrets stay", async (t) => {
  const record = {
    last_booted_record: "",
    token: "",
    secret: {},
    passwords: [],
    is_secret: false,
    size: 7,
    none: null,
    list: [],
    map: {},
  };
  t.same(toMaskedRecord(record), record);
});

t.test("integers that JSON cannot carry become numbers", async (t) => {
  t.same(toMaskedRecord({ size: 2n ** 60n, in: { it: 3n } }), {
    size: 2 ** 60,
    in: { it: 3 },
  });
});

t.test("a key like __proto__ is a key like any other", async (t) => {
  const record = JSON.parse(`{"other_config":{"__proto__":"x"}}`) as object;
  const masked = toMaskedRecord(record as Record<string, unknown>);
  t.equal(JSON.stringify(masked), `{"other_config":{"__proto__":"x"}}`);
});

t.test("values deeper than any field are not followed", async (t) => {
  let deep: unknown = "abc";
  for (let i = 0; i < 1_000; i++) deep = [deep];
  const text = JSON.stringify(toMaskedRecord({ deep }));
  t.ok(text.includes(MASK));
  t.ok(text.length < 100);
});
