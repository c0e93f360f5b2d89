import t from "tap";
import { findObject } from "../src/api/rest/collections/find-object.js";
import { ObjectListing } from "../src/objects/object-listing.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { findTemplate } from "../src/vms/create/template.js";

const catalog = {
  get: () => undefined,
  poolOf: () => undefined,
  types: [],
} as never;
const starting = { isStarting: true };
const isLoading = { code: "OBJECTS_LOADING" };
const isMissing = { code: "NO_SUCH_OBJECT" };

t.test(
  "an operation does not take an object for deleted while pools are loaded",
  async (t) => {
    const get = (...loading: { isStarting: boolean }[]) =>
      new PoolObjects(catalog, {} as never, {}, ...loading);
    t.throws(() => get(starting).get("a", "VM"), isLoading);
    t.throws(() => get(starting).untracked.get("a", "VM"), isLoading);
    t.throws(() => get({ isStarting: false }).get("a", "VM"), isMissing);
    t.throws(() => get().get("a", "VM"), isMissing);
  },
);

t.test("a template is found by its UUID while pools are loaded", async (t) => {
  const template = { id: "p-t", type: "VM-template", $pool: "p" };
  const get = (id: string) =>
    id === "p-t"
      ? { ...template, pool: "c", json: Buffer.from(JSON.stringify(template)) }
      : undefined;
  const objects = new PoolObjects(
    { get } as never,
    { xapi: () => ({}) } as never,
    {},
    starting,
  );
  const find = (id: string) =>
    findTemplate({ template: id, pool: "p" } as never, objects);
  t.equal(find("t").id, "p-t");
  t.throws(() => find("other"), isLoading);
});

t.test(
  "a REST request does not take an object for deleted while pools are loaded",
  async (t) => {
    const find = (isStarting: boolean, extent: unknown) =>
      findObject(
        { catalog, queries: {} as never, completeness: { isStarting } },
        { name: "vms", type: "VM" } as never,
        "a",
        { extent: () => extent } as never,
      );
    await t.rejects(find(true, "all"), isLoading);
    await t.rejects(find(true, "none"), isLoading);
    await t.rejects(find(false, "all"), isMissing);
  },
);

t.test(
  "a list of objects with an id does not take it for deleted either",
  async (t) => {
    const listing = new ObjectListing(
      catalog,
      {} as never,
      {} as never,
      starting,
    );
    const list = (filter?: object) =>
      listing.list({ filter, format: "members" } as never);
    t.throws(() => list({ type: "VM", id: "a" }), isLoading);
    t.ok(list({ type: "VM" }));
  },
);
