import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { AddressAllocator } from "../src/ip-pools/address-allocator.js";
import { canonicalAddress, parseRange } from "../src/ip-pools/address-range.js";
import { IpPools, totalOf } from "../src/ip-pools/ip-pools.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";
import { FakeObjects } from "./fake-objects.js";

async function setUp(t: Test) {
  const folder = t.testdir();
  const store = await openStore({
    location: `${folder}/store.db`,
    key: { file: `${folder}/store.key` },
    ...cheapCosts,
  });
  t.teardown(() => store.close());
  const pools = new IpPools(store);
  const objects = new FakeObjects([{ id: "pool", type: "pool" }]);
  const { catalog, queries } = objects.views;
  const clock = new FakeClock();
  const allocator = new AddressAllocator({
    pools,
    store,
    catalog,
    queries,
    clock,
  });
  const createSet = async (ipPools: string[], limits = {}) =>
    (await store.resourceSets.create({ name: "s", ipPools, limits })).id;
  return { pools, objects, clock, allocator, createSet };
}

t.test("addresses, ranges and networks are counted", async (t) => {
  const total = (...addresses: string[]) => totalOf({ addresses });
  t.equal(total("10.0.0.1"), 1);
  t.equal(total("10.0.0.10-10.0.0.99", "10.0.1.0/24"), 90 + 254);
  t.equal(total("10.0.0.0/31", "10.1.0.7/32"), 3);
  t.equal(total("fd00::/120"), 256);
  t.equal(canonicalAddress("FD00:0:0::0001"), "fd00::1");
  for (const wrong of ["", "10.0.0", "10.0.0.9-10.0.0.1", "1.1.1.1-fd00::1"])
    t.throws(() => parseRange(wrong), { code: "INVALID_PARAMETERS" }, wrong);
});

t.test("pools are stored, and their ranges do not overlap", async (t) => {
  const { pools } = await setUp(t);
  const id = await pools.create({
    name: "web",
    networks: ["net"],
    addresses: ["10.0.0.1-10.0.0.9"],
  });
  await pools.set(id, { name: "front" });
  t.match(pools.list(), [{ id, name: "front", networks: ["net"] }]);
  await t.rejects(pools.set(id, { addresses: ["10.0.0.0/24", "10.0.0.9"] }), {
    message: /10.0.0.0\/24 and 10.0.0.9 overlap/,
  });
  await pools.delete(id);
  await t.rejects(pools.delete(id), { code: "NO_SUCH_OBJECT" });
});

t.test("a VIF gets an address that no other may use", async (t) => {
  const { pools, objects, allocator, createSet } = await setUp(t);
  const id = await pools.create({
    name: "web",
    networks: ["net"],
    addresses: ["10.0.0.1-10.0.0.4"],
  });
  const set = await createSet([id]);
  objects.set({
    id: "vif",
    type: "VIF",
    $VM: "vm",
    $network: "net",
    allowedIpv4Addresses: ["10.0.0.2"],
  });
  const allocate = () => allocator.allocate(set, "net");
  const next = async () => (await allocate())?.address;
  const both = await Promise.all([next(), next()]);
  t.same(both.toSorted(), ["10.0.0.1", "10.0.0.3"], "also at the same time");
  t.equal(await allocator.allocate(set, "other"), undefined);
  const last = await allocate();
  t.equal(last?.address, "10.0.0.4");
  await t.rejects(next(), { code: "RESOURCES_EXHAUSTED" });
  await last?.release();
  t.equal(await next(), "10.0.0.4");
});

t.test("a set may limit its addresses of a pool", async (t) => {
  const { pools, objects, allocator, createSet, clock } = await setUp(t);
  const id = await pools.create({
    name: "web",
    networks: ["net"],
    addresses: ["10.0.0.0/24"],
  });
  const set = await createSet([id], { [`ipPool:${id}`]: 2 });
  const other = await createSet([id]);
  objects.set({ id: "vm", type: "VM", resourceSet: set });
  objects.set({
    id: "vif",
    type: "VIF",
    $VM: "vm",
    $network: "net",
    allowedIpv4Addresses: ["10.0.0.1"],
  });
  t.match(await allocator.allocate(set, "net"), { address: "10.0.0.2" });
  await t.rejects(allocator.allocate(set, "net"), {
    code: "RESOURCES_EXHAUSTED",
    data: { resourceType: `ipPool:${id}` },
  });
  t.match(await allocator.allocate(other, "net"), { address: "10.0.0.3" });
  clock.pass(600_001);
  t.match(await allocator.allocate(set, "net"), { address: "10.0.0.2" });
});
