import t from "tap";
import {
  indexPool,
  planStarts,
  type GroupModel,
  type HostModel,
  type LocationModel,
  type PlanOptions,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";

const GIB = 2 ** 30;

/** More than so many, and they are no longer all looked at. */
const SIZES = [3, 300];

function hosts(count: number, more: Partial<HostModel> = {}): HostModel[] {
  return Array.from({ length: count }, (_, i) => ({
    id: name("h", i),
    state: "up",
    memory: 16 * GIB,
    cores: 8,
    networks: [],
    srs: [],
    ...more,
  }));
}

function vms(count: number, more: Partial<VmModel> = {}): VmModel[] {
  return Array.from({ length: count }, (_, i) => ({
    id: name("v", i),
    memory: GIB,
    vcpus: 1,
    srs: [],
    networks: [],
    ...more,
  }));
}

function name(prefix: string, index: number): string {
  return `${prefix}${String(index).padStart(3, "0")}`;
}

function hostsOf(model: PoolModel, options: PlanOptions = {}): string[] {
  const { actions } = planStarts(indexPool(model), options).plan;
  const homes = new Map(actions.map(({ vm, to }) => [vm, to]));
  return model.vms.map(({ id }) => homes.get(id) ?? "nowhere");
}

const apart = (more: Partial<GroupModel>, ids: string[]): GroupModel => ({
  id: "g",
  kind: "apart",
  strict: false,
  vms: ids,
  ...more,
});
const at = (host: string, score: number): LocationModel => ({
  id: `l-${host}`,
  vms: ["v000"],
  hosts: [host],
  score,
});

for (const count of SIZES) {
  const last = name("h", count - 1);

  t.test(
    `of ${count} hosts that are alike the first by id is taken`,
    async (t) => {
      t.same(hostsOf({ hosts: hosts(count), vms: vms(1) }), ["h000"]);
    },
  );

  t.test(
    `of ${count} hosts that with the most room is taken, or the least where it packs`,
    async (t) => {
      const model = {
        hosts: hosts(count).map((host) =>
          host.id === last
            ? { ...host, memory: 32 * GIB }
            : { ...host, load: 1 },
        ),
        vms: vms(1),
      };
      t.same(hostsOf(model), [last]);
      const one = {
        ...vms(1)[0]!,
        id: "w",
        memory: 4 * GIB,
        host: name("h", 1),
      };
      const packed = { ...model, vms: [...model.vms, one] };
      t.equal(hostsOf(packed, { order: "pack" })[0], name("h", 1));
    },
  );

  t.test(
    `of ${count} hosts CPU that is in use counts as memory does`,
    async (t) => {
      const model = {
        hosts: hosts(count).map((host) =>
          host.id === last ? host : { ...host, load: 4 },
        ),
        vms: vms(1),
      };
      t.same(hostsOf(model), [last]);
    },
  );

  t.test(
    `of ${count} hosts a liked one goes before one with more room`,
    async (t) => {
      const full = { ...vms(1)[0]!, id: "w", memory: 10 * GIB, host: last };
      const model = { hosts: hosts(count), vms: [...vms(1), full] };
      t.equal(hostsOf({ ...model, locations: [at(last, 1)] })[0], last);
      t.equal(hostsOf({ ...model, locations: [at("h000", -1)] })[0], "h001");
      const both = [at(last, 1), { ...at("h001", 2), id: "l2" }];
      t.equal(hostsOf({ ...model, locations: both })[0], "h001");
    },
  );

  t.test(
    `of ${count} hosts a disliked one is taken if there is no other`,
    async (t) => {
      const model = {
        hosts: hosts(count).map((host) =>
          host.id === last ? host : { ...host, memory: 0 },
        ),
        vms: vms(1),
        locations: [at(last, -5)],
      };
      t.same(hostsOf(model), [last]);
    },
  );

  t.test(
    `of ${count} hosts "only there" and "never there" leave no choice`,
    async (t) => {
      const model = { hosts: hosts(count), vms: vms(1) };
      t.same(hostsOf({ ...model, locations: [at(last, Infinity)] }), [last]);
      t.same(hostsOf({ ...model, locations: [at("h000", -Infinity)] }), [
        "h001",
      ]);
      const off = model.hosts.map((host) =>
        host.id === last ? { ...host, state: "disabled" as const } : host,
      );
      const only = { hosts: off, vms: vms(1), locations: [at(last, Infinity)] };
      t.same(hostsOf(only), ["nowhere"]);
    },
  );

  t.test(
    `on ${count} hosts VMs that wish to be apart are, while there is room`,
    async (t) => {
      const members = vms(count, { memory: 8 * GIB });
      const ids = members.map(({ id }) => id);
      const model = {
        hosts: hosts(count),
        vms: members,
        groups: [apart({}, ids)],
      };
      t.equal(new Set(hostsOf(model, { order: "pack" })).size, count);
      const more = [...members, { ...members[0]!, id: "w" }];
      const crowded = {
        ...model,
        vms: more,
        groups: [apart({}, [...ids, "w"])],
      };
      t.notOk(hostsOf(crowded).includes("nowhere"), "a wish keeps none out");
      const strict = [apart({ strict: true }, [...ids, "w"])];
      const out = hostsOf({ ...crowded, groups: strict });
      t.equal(
        out.filter((host) => host === "nowhere").length,
        1,
        "a rule does",
      );
    },
  );

  t.test(
    `on ${count} hosts VMs that are together have one host, the first that has room for all`,
    async (t) => {
      const members = vms(4, { memory: 4 * GIB });
      const other = { ...members[0]!, id: "w", host: "h000" };
      const ids = members.map(({ id }) => id);
      for (const strict of [true, false]) {
        const groups = [apart({ strict, kind: "together" }, ids)];
        const model = { hosts: hosts(count), vms: [...members, other], groups };
        const homes = new Set(hostsOf(model).slice(0, 4));
        t.same([...homes], ["h001"], strict ? "a rule" : "a wish");
      }
    },
  );
}
