import t from "tap";
import {
  catalogOf,
  createPool,
  objectOf,
  POOL_ID,
  record,
  refOf,
  uuidOf,
} from "./catalog-pool.js";

t.test("objects are made of records, with what all have", async (t) => {
  const pool = createPool("a");
  pool.put("VBD", refOf("disk"), record("disk", { VM: refOf("a") }));
  const { catalog, stop } = await catalogOf(pool);
  t.same(objectOf(catalog, uuidOf("disk")), {
    id: uuidOf("disk"),
    type: "VBD",
    uuid: uuidOf("disk"),
    $pool: POOL_ID,
    $poolId: POOL_ID,
    _xapiRef: refOf("disk"),
    VM: uuidOf("a"),
    device: null,
  });
  t.equal(catalog.classOf("VM-template"), "VM");
  t.equal(catalog.classOf("message"), undefined);
  await t.rejects(catalog.follow("message"), { code: "INVALID_PARAMETERS" });
  await stop();
});

t.test("a change comes out once a window, as a patch", async (t) => {
  const pool = createPool("a", "b");
  const { catalog, frames, poll, flush, stop } = await catalogOf(pool);
  for (const name of ["x", "y", "z"]) {
    pool.put("VM", refOf("a"), record("a", { other: { name } }));
    await poll();
  }
  t.equal(frames.length, 0);
  await flush();
  t.equal(frames.length, 1);
  const [change] = frames[0]!.changes;
  t.equal(frames[0]!.changes.length, 1);
  t.match(change, { kind: "update", id: uuidOf("a"), type: "VM", pool: "p" });
  t.equal(change!.patch, undefined, "host is null now: no patch can say so");
  pool.put("VM", refOf("a"), record("a", { other: { name: "q" } }));
  await poll();
  await flush();
  t.equal(frames[1]!.changes[0]!.patch?.toString(), `{"other":{"name":"q"}}`);
  t.equal(catalog.feed.revision, 2);
  await stop();
});
