import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { propertiesOf } from "@xo-server/inventory";
import { valueAt } from "../src/filter/property-path.js";
import { viewOf, views } from "../src/views/views.js";
import { buildAll, RecordLinks } from "./fixtures/record-links.js";
import { samplePool } from "./fixtures/sample-pool.js";

t.test("every property of an object is documented for its type", async (t) => {
  const missing = new Set<string>();
  for (const object of buildAll(samplePool)) {
    const type = String(object.type);
    const known = propertiesOf(type);
    for (const name of Object.keys(object))
      if (known?.has(name) !== true) missing.add(`${type}: ${name}`);
  }
  t.same([...missing], []);
});

t.test("searched paths are known properties", async (t) => {
  for (const { types, searched } of views)
    for (const type of types)
      for (const path of searched)
        t.ok(propertiesOf(type)?.has(path.split(".")[0]!), `${type}: ${path}`);
});

t.test(
  "a property read alone is the same as in the whole object",
  async (t) => {
    let compared = 0;
    const links = new RecordLinks(samplePool);
    for (const [className, records] of Object.entries(samplePool))
      for (const [ref, record] of Object.entries(records)) {
        const view = viewOf(className);
        if (view === undefined) continue;
        links.view = view;
        const source = { ref, record, links };
        const object = view.build(source);
        for (const [name, read] of Object.entries(view.properties ?? {})) {
          const value = read(source);
          const requested = valueAt(object, name.split("."));
          compared++;
          if (!isDeepStrictEqual(value, requested))
            t.same(value, requested, `${className} ${ref}: ${name}`);
        }
      }
    t.ok(compared > 100, `${compared} were compared`);
  },
);
