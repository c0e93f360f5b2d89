import type { Catalog, Inventory } from "@xo-server/inventory";
import t from "tap";
import { rawRecordOperations } from "../src/methods/objects/raw-record.js";
import type { Services } from "../src/methods/definition/services.js";
import { as, startRestServer } from "./rest-server.js";

const id = "11111111-0000-4000-8000-000000000001";
const entry = {
  id,
  type: "VM-snapshot",
  pool: "p1",
  json: Buffer.from(JSON.stringify({ id, _xapiRef: "OpaqueRef:1" })),
};
const catalog: Pick<Catalog, "get" | "classOf"> = {
  get: (input) => (input === id || input === "OpaqueRef:1" ? entry : undefined),
  classOf: () => "VM",
};

function operationsOver(record: object | undefined) {
  const asked: unknown[] = [];
  const peek = (...key: unknown[]) => {
    asked.push(key);
    return record;
  };
  const inventory = { peek } as unknown as Pick<Inventory, "peek">;
  return {
    asked,
    operations: rawRecordOperations,
    services: { catalog, inventory } as unknown as Partial<Services>,
  };
}

t.test("the record of an object, by its id or reference", async (t) => {
  const { asked, ...options } = operationsOver({
    name_label: "web",
    other_config: { password: "abc" },
  });
  const server = await startRestServer(t, options);
  for (const name of [id, "OpaqueRef:1"])
    t.same(await server.json(`/raw-records/${name}`, as("admin")), {
      id,
      type: "VM-snapshot",
      className: "VM",
      ref: "OpaqueRef:1",
      record: {
        name_label: "web",
        other_config: { password: "* obfuscated *" },
      },
    });
  t.same(asked[0], ["p1", "VM", "OpaqueRef:1"]);
});

t.test("of missing or just deleted objects there is no entry", async (t) => {
  const options = operationsOver(undefined);
  const server = await startRestServer(t, options);
  for (const name of ["nothing", id]) {
    const answer = await server.json(`/raw-records/${name}`, as("admin"), 404);
    t.match(answer, { error: /no such/i });
  }
});

t.test("only an admin reads it", async (t) => {
  const { operations, asked } = operationsOver({ name_label: "web" });
  const server = await startRestServer(t, { operations, users: { joe: [] } });
  t.equal((await server.get(`/raw-records/${id}`, as("joe"))).status, 403);
  t.equal((await server.get(`/raw-records/${id}`)).status, 401);
  t.same(asked, []);
});
