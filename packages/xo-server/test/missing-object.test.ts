import t from "tap";
import { findObject } from "../src/api/rest/collections/find-object.js";
import { ObjectListing } from "../src/objects/object-listing.js";
import { PoolObjects } from "../src/objects/pool-objects.js";

const catalog = { get: () => undefined, types: [] } as never;
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

t.test("nor does a REST request for one object", async (t) => {
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
});

t.test("nor does a list of the objects with an id", async (t) => {
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
});
