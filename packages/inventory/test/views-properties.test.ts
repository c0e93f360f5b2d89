import t from "tap";
import { propertiesOf } from "@xo-server/inventory";
import { views } from "../src/views/views.js";
import { buildAll } from "./fixtures/record-links.js";
import { samplePool } from "./fixtures/sample-pool.js";

t.test("every property of an object is a known one of its type", async (t) => {
  const missing = new Set<string>();
  for (const object of buildAll(samplePool)) {
    const type = String(object.type);
    const known = propertiesOf(type);
    for (const name of Object.keys(object))
      if (known?.has(name) !== true) missing.add(`${type}: ${name}`);
  }
  t.same([...missing], []);
});

t.test("columns and searched paths are known properties", async (t) => {
  for (const { types, columns, searched } of views)
    for (const type of types)
      for (const path of [...columns, ...searched])
        t.ok(propertiesOf(type)?.has(path.split(".")[0]!), `${type}: ${path}`);
});
