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
  ["a duplicate host", /duplicate host h/, { hosts: [host, host] }],
  ["a duplicate VM", /duplicate VM v/, { vms: [vm, vm] }],
  [
    "a VM on an unknown host",
    /unknown host x/,
    { vms: [{ ...vm, host: "x" }] },
  ],
  [
    "negative memory",
    /memory of VM v must be .*, is -1/,
    { vms: [{ ...vm, memory: -1 }] },
  ],
  [
    "memory that is not a number",
    /memory of host h must be .*, is NaN/,
    { hosts: [{ ...host, memory: NaN }] },
  ],
  [
    "infinite memory",
    /memory of host h must be .*, is Infinity/,
    { hosts: [{ ...host, memory: Infinity }] },
  ],
  [
    "a negative number of cores",
    /cores of host h/,
    { hosts: [{ ...host, cores: -4 }] },
  ],
  ["a negative load", /load of VM v/, { vms: [{ ...vm, load: -1 }] }],
  [
    "VCPUs that are not a number",
    /VCPUs of VM v/,
    { vms: [{ ...vm, vcpus: NaN }] },
  ],
  [
    "a negative count of a device",
    /VM v takes -1 of gpu/,
    { vms: [{ ...vm, devices: [{ kind: "gpu", count: -1 }] }] },
  ],
  [
    "a group of unknown VMs",
    /unknown VM x/,
    {
      groups: [{ id: "g", kind: "anti-affinity", required: true, vms: ["x"] }],
    },
  ],
  [
    "a group with weight 0",
    /group g: weight must be above 0/,
    {
      groups: [
        {
          id: "g",
          kind: "anti-affinity",
          required: false,
          vms: ["v"],
          weight: 0,
        },
      ],
    },
  ],
  [
    "a host affinity with unknown hosts",
    /unknown host x/,
    { hostAffinities: [{ id: "l", vms: ["v"], hosts: ["x"], score: 1 }] },
  ],
  [
    "a host affinity whose score is not a number",
    /host affinity l/,
    { hostAffinities: [{ id: "l", vms: ["v"], hosts: ["h"], score: NaN }] },
  ],
  [
    "a duplicate host affinity",
    /duplicate host affinity l/,
    {
      hostAffinities: [
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

t.test("ids that are names of Object.prototype members are ids", async (t) => {
  for (const id of ["__proto__", "constructor", "toString", ""]) {
    const pool = indexPool({ hosts: [{ ...host, id }], vms: [{ ...vm, id }] });
    t.equal(placeVm(pool, id).host, id);
  }
});

t.test("an empty pool is valid", async (t) => {
  const { plan } = planStarts(indexPool({ hosts: [], vms: [] }));
  t.same([plan.actions, plan.unplaced], [[], []]);
  const unassigned = planStarts(indexPool({ hosts: [], vms: [vm] })).plan;
  t.same(
    unassigned.unplaced.map((one) => one.vm),
    ["v"],
  );
  t.equal(unassigned.isProven, true);
});

t.test("a changed pool gives the same results as a new one", async (t) => {
  for (const seed of seeds(200)) {
    const random = new SeededRandom(seed);
    // A measured load stays, whatever is removed.
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

t.test("a change with an unknown id is refused", async (t) => {
  const pool = indexPool(model);
  t.throws(
    () => changePool(pool, { kind: "host-down", host: "x" }),
    InvalidModel,
  );
  t.throws(
    () => changePool(pool, { kind: "vm-removed", vm: "x" }),
    InvalidModel,
  );
  t.throws(
    () => changePool(pool, { kind: "vm", vm: { ...vm, host: "x" } }),
    InvalidModel,
  );
  t.throws(
    () => changePool(pool, { kind: "host", host: { ...host, memory: -1 } }),
    InvalidModel,
  );
});
