import t from "tap";
import { resolveVector } from "../src/jobs/params-vector.js";
import { insertSecrets, extractSecrets } from "../src/jobs/secrets.js";

const none = () => Promise.resolve([]);
const objects = [
  { id: "a", type: "VM", name_label: "db" },
  { id: "b", type: "VM", name_label: "web" },
];

t.test("sets are multiplied with each other", async (t) => {
  const vector = {
    type: "crossProduct",
    items: [
      { type: "set", values: [{ id: "a" }, { id: "b" }] },
      { type: "set", values: [{ force: true }] },
      { type: "set", values: [{ n: 1 }, { n: 2 }] },
    ],
  };
  t.same(await resolveVector(vector, none), [
    { id: "a", force: true, n: 1 },
    { id: "a", force: true, n: 2 },
    { id: "b", force: true, n: 1 },
    { id: "b", force: true, n: 2 },
  ]);
});

t.test("objects are those that match when it is done", async (t) => {
  const pattern = { type: "VM", power_state: "Running" };
  const vector = {
    type: "crossProduct",
    items: [
      {
        type: "map",
        collection: { type: "fetchObjects", pattern },
        iteratee: {
          type: "extractProperties",
          mapping: { id: "id", name: "name_label", constructor: "constructor" },
        },
      },
      { type: "set", values: [{ force: false }] },
    ],
  };
  const asked: unknown[] = [];
  const found = await resolveVector(vector, (about) => {
    asked.push(about);
    return Promise.resolve(objects);
  });
  t.same(asked, [{ pattern }]);
  t.match(found, [
    { id: "a", name: "db", force: false },
    { id: "b", name: "web", force: false },
  ]);
  t.equal(found[0]!["constructor"], undefined, "nothing of the prototype");
  await t.rejects(resolveVector(vector, none), { code: "INVALID_PARAMETERS" });
});

t.test("a member called __proto__ is a member", async (t) => {
  const value = JSON.parse('{"__proto__": {"polluted": 1}}') as object;
  const items = [{ type: "set", values: [value] }];
  const [params] = await resolveVector({ type: "crossProduct", items }, none);
  t.equal(Reflect.get(params!, "polluted"), undefined);
  t.ok(Object.hasOwn(params!, "__proto__"));
});

t.test("invalid and excessive values are refused", async (t) => {
  const hundred = {
    type: "set",
    values: Array.from({ length: 101 }, (_, n) => ({ n })),
  };
  let deep: object = { type: "set", values: [{}] };
  for (let i = 0; i < 20; i++) deep = { type: "crossProduct", items: [deep] };
  const wrong: unknown[] = [
    undefined,
    1,
    [],
    {},
    { type: "toString" },
    { type: "set" },
    { type: "set", values: [1] },
    { type: "crossProduct", items: {} },
    { type: "crossProduct", items: [hundred, hundred] },
    deep,
  ];
  for (const vector of wrong)
    await t.rejects(resolveVector(vector, none), {
      code: "INVALID_PARAMETERS",
    });
});

t.test("secrets are removed, and inserted again", async (t) => {
  const body = {
    method: "server.add",
    paramsVector: {
      type: "crossProduct",
      items: [
        {
          type: "set",
          values: [
            { host: "h", password: "hush", a: { "b/c~": { token: "t" } } },
          ],
        },
      ],
    },
  };
  const { body: shown, secrets } = extractSecrets(body, {});
  t.notMatch(JSON.stringify(shown), /hush/);
  t.same(secrets, {
    "/paramsVector/items/0/values/0/password": "hush",
    "/paramsVector/items/0/values/0/a/b~1c~0/token": "t",
  });
  t.same(insertSecrets(shown, secrets!), body);
  const again = extractSecrets(shown, secrets!);
  t.same(again, { body: shown, secrets }, "masked ones stay");
  t.throws(() => extractSecrets(shown, {}), { code: "INVALID_PARAMETERS" });
  t.equal(extractSecrets({ a: 1 }, {}).secrets, undefined);
});
