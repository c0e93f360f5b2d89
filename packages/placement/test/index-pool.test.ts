import t from "tap";
import {
  changePool,
  indexPool,
  InvalidModel,
  placeVm,
  planStarts,
  type HostModel,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";
import {
  changedModel,
  randomChange,
  randomPool,
  SeededRandom,
  seeds,
  withoutOwnLoad,
} from "./reference/index.js";

const host: HostModel = {
  id: "h",
  state: "up",
  memory: 8,
  cores: 4,
  networks: [],
  srs: [],
};
const vm: VmModel = { id: "v", memory: 1, vcpus: 1, srs: [], networks: [] };
const model: PoolModel = { hosts: [host], vms: [vm] };

const invalid: readonly (readonly [string, RegExp, Partial<PoolModel>])[] = [
  [
    "a host that is there twice",
    /host h is there twice/,
    { hosts: [host, host] },
  ],
  ["a VM that is there twice", /VM v is there twice/, { vms: [vm, vm] }],
  [
    "a VM on a host that is not there",
    /no host x/,
    { vms: [{ ...vm, host: "x" }] },
  ],
  ["memory below 0", /memory of VM v is -1/, { vms: [{ ...vm, memory: -1 }] }],
  [
    "memory that is no number",
    /memory of host h is NaN/,
    { hosts: [{ ...host, memory: NaN }] },
  ],
  [
    "memory without end",
    /memory of host h is Infinity/,
    { hosts: [{ ...host, memory: Infinity }] },
  ],
  [
    "a number of cores below 0",
    /cores of host h/,
    { hosts: [{ ...host, cores: -4 }] },
  ],
  ["a load below 0", /load of VM v/, { vms: [{ ...vm, load: -1 }] }],
  [
    "VCPUs that are no number",
    /VCPUs of VM v/,
    { vms: [{ ...vm, vcpus: NaN }] },
  ],
  [
    "fewer than none of a device",
    /VM v takes -1 of gpu/,
    { vms: [{ ...vm, devices: [{ kind: "gpu", count: -1 }] }] },
  ],
  [
    "a group of VMs that are not there",
    /no VM x/,
    { groups: [{ id: "g", kind: "apart", strict: true, vms: ["x"] }] },
  ],
  [
    "a group that weighs nothing",
    /group g weighs 0/,
    {
      groups: [
        { id: "g", kind: "apart", strict: false, vms: ["v"], weight: 0 },
      ],
    },
  ],
  [
    "a location of hosts that are not there",
    /no host x/,
    { locations: [{ id: "l", vms: ["v"], hosts: ["x"], score: 1 }] },
  ],
  [
    "a location with a score that is no number",
    /location l/,
    { locations: [{ id: "l", vms: ["v"], hosts: ["h"], score: NaN }] },
  ],
  [
    "a location that is there twice",
    /location l is there twice/,
    {
      locations: [
        { id: "l", vms: ["v"], hosts: ["h"], score: 1 },
        { id: "l", vms: ["v"], hosts: ["h"], score: 2 },
      ],
    },
  ],
];

for (const [what, message, part] of invalid)
  t.test(`a model with ${what} is refused`, async (t) => {
    const error = t.throws(() => indexPool({ ...model, ...part })) as Error;
    t.ok(error instanceof InvalidModel);
    t.match(error.message, message);
  });

t.test("ids that are names of things every object has are ids", async (t) => {
  for (const id of ["__proto__", "constructor", "toString", ""]) {
    const pool = indexPool({ hosts: [{ ...host, id }], vms: [{ ...vm, id }] });
    t.equal(placeVm(pool, id).host, id);
  }
});

t.test("an empty pool is one", async (t) => {
  const { plan } = planStarts(indexPool({ hosts: [], vms: [] }));
  t.same([plan.actions, plan.unplaced], [[], []]);
  const homeless = planStarts(indexPool({ hosts: [], vms: [vm] })).plan;
  t.same(
    homeless.unplaced.map((one) => one.vm),
    ["v"],
  );
  t.equal(homeless.isProven, true);
});

t.test("a changed pool answers as one that was made so", async (t) => {
  for (const seed of seeds(200)) {
    const random = new SeededRandom(seed);
    // A measured load stays, whatever goes.
    let now = withoutOwnLoad(randomPool(seed));
    let pool = indexPool(now);
    for (let step = 0; step < 4; step++) {
      const change = randomChange(now, random);
      now = changedModel(now, change);
      pool = changePool(pool, change);
      const [is, should] = [pool, indexPool(now)].map((one) =>
        now.vms.map(({ id }) => placeVm(one, id)),
      );
      if (JSON.stringify(is) !== JSON.stringify(should)) {
        t.same(is, should, `seed ${seed}: ${JSON.stringify(change)}`);
        return;
      }
    }
  }
  t.pass();
});

t.test("a change of what is not there is refused", async (t) => {
  const pool = indexPool(model);
  t.throws(
    () => changePool(pool, { kind: "host-out", host: "x" }),
    InvalidModel,
  );
  t.throws(() => changePool(pool, { kind: "vm-gone", vm: "x" }), InvalidModel);
  t.throws(
    () => changePool(pool, { kind: "vm", vm: { ...vm, host: "x" } }),
    InvalidModel,
  );
  t.throws(
    () => changePool(pool, { kind: "host", host: { ...host, memory: -1 } }),
    InvalidModel,
  );
});
