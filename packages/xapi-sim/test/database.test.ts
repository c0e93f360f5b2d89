import t from "tap";
import { datamodel } from "@xo-server/model";
import { Database } from "../src/database.js";
import { linksOf } from "../src/relations.js";
import { createRandom } from "../src/random.js";
import { generateFleet } from "../src/fleet/generate-fleet.js";
import { VM, NETWORK, tinyFleet } from "./support/tiny-pool.js";

function tiny(): Database {
  const db = new Database(createRandom(1));
  db.load(tinyFleet);
  return db;
}

t.test("loading computes the set sides of relations", async (t) => {
  const db = tiny();
  t.same(db.get("VM", VM)["VIFs"], ["OpaqueRef:vif"]);
  t.same(db.get("network", NETWORK)["VIFs"], ["OpaqueRef:vif"]);
});

t.test(
  "moving an object from one parent to another changes both",
  async (t) => {
    const db = tiny();
    const other = db.create("network", {});
    db.update("VIF", "OpaqueRef:vif", { network: other });
    t.same(db.get("network", NETWORK)["VIFs"], []);
    t.same(db.get("network", other)["VIFs"], ["OpaqueRef:vif"]);
    db.destroy("VIF", "OpaqueRef:vif");
    t.same(db.get("network", other)["VIFs"], []);
  },
);

t.test("two sets mirror each other", async (t) => {
  const db = tiny();
  const group = db.create("VM_group", {});
  db.update("VM", VM, { groups: [group] });
  t.same(db.get("VM_group", group)["VMs"], [VM]);
  db.update("VM_group", group, { VMs: [] });
  t.same(db.get("VM", VM)["groups"], []);
});

t.test(
  "a generated fleet has both sides of all relations in step",
  async (t) => {
    const db = new Database(createRandom(1));
    db.load(generateFleet({ hosts: 3, vms: 20, seed: 1 }));
    for (const className of Object.keys(datamodel.classes))
      for (const { field, many, otherClass, otherField } of linksOf(className))
        for (const [ref, record] of db.records(className)) {
          const refs = (many ? record[field] : [record[field]]) as string[];
          for (const other of refs) {
            const back = db.find(otherClass, other)?.[otherField];
            if (back !== undefined && !(back as string[]).includes(ref))
              t.fail(`${className}.${field} of ${ref}`);
          }
        }
    t.ok(db.count("VM") > 20);
  },
);

t.test(
  "missing fields have the datamodel's defaults, in its order",
  async (t) => {
    const db = tiny();
    t.same(
      Object.keys(db.get("VM", VM)),
      Object.keys(datamodel.classes["VM"]!.fields),
    );
  },
);
