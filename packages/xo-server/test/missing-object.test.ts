import t from "tap";
import type { Loading } from "../src/objects/missing-object.js";
import { findObject } from "../src/api/rest/collections/find-object.js";
import { ObjectListing } from "../src/objects/object-listing.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { findTemplate } from "../src/vms/create/template.js";

const catalog = {
  get: () => undefined,
  poolOf: () => undefined,
  types: [],
} as never;
/** @param mayHave whether a pool is not loaded */
const loading = (mayHave: boolean): Loading => ({
  isAwaiting: mayHave,
  mayHave: () => mayHave,
  noteFound: () => undefined,
});
const starting = loading(true);
const isLoading = { code: "OBJECTS_LOADING" };
const isMissing = { code: "NO_SUCH_OBJECT" };

t.test(
  "an operation does not take an object for deleted while pools are loaded",
  async (t) => {
    const get = (...given: Loading[]) =>
      new PoolObjects(catalog, {} as never, {}, ...given);
    t.throws(() => get(starting).get("a", "VM"), isLoading);
    t.throws(() => get(starting).untracked.get("a", "VM"), isLoading);
    t.throws(() => get(loading(false)).get("a", "VM"), isMissing);
    t.throws(() => get().get("a", "VM"), isMissing);
  },
);

t.test("an operation on one pool waits for no other pool", async (t) => {
  const pools: (string | undefined)[] = [];
  const known = {
    ...starting,
    mayHave: (_: string, pool?: string) => {
      pools.push(pool);
      return pool !== "connection";
    },
  };
  const all = new PoolObjects(
    {
      get: () => undefined,
      poolOf: (id: string) => (id === "p" ? "connection" : undefined),
    } as never,
    {} as never,
    {},
    known,
  );
  t.throws(() => all.get("a", "VM"), isLoading);
  t.throws(() => all.ofPool("p").get("a", "VM"), isMissing);
  t.throws(() => all.ofPool("p").untracked.get("a", "VM"), isMissing);
  t.throws(
    () => all.ofPool("other").get("a", "VM"),
    isLoading,
    "its pool is not known yet",
  );
});

t.test(
  "an object that the caller may not read is reported as an unknown one",
  async (t) => {
    const known = {
      ...starting,
      // Another client has read it: it is in a loaded pool.
      mayHave: () => false,
    };
    const objects = new PoolObjects(
      { get: () => undefined, poolOf: () => "connection" } as never,
      {} as never,
      {},
      known,
    );
    t.match(objects.missing("VM", "a"), isLoading);
  },
);

t.test("a template is found by its UUID while pools are loaded", async (t) => {
  const template = { id: "p-t", type: "VM-template", $pool: "p" };
  const get = (id: string) =>
    id === "p-t"
      ? { ...template, pool: "c", json: Buffer.from(JSON.stringify(template)) }
      : undefined;
  const objects = new PoolObjects(
    { get, poolOf: () => undefined } as never,
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
    const find = (mayHave: boolean, extent: unknown) =>
      findObject(
        { catalog, queries: {} as never, loadedPools: loading(mayHave) },
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
