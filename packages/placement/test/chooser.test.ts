import t from "tap";
import {
  indexPool,
  planStarts,
  type GroupModel,
  type HostModel,
  type HostAffinityModel,
  type PlanOptions,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";

const GIB = 2 ** 30;

/** Above this number hosts are not all evaluated. */
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
  kind: "anti-affinity",
  required: false,
  vms: ids,
  ...more,
});
const at = (host: string, score: number): HostAffinityModel => ({
  id: `l-${host}`,
  vms: ["v000"],
  hosts: [host],
  score,
});

for (const count of SIZES) {
  const last = name("h", count - 1);

  t.test(`of ${count} equal hosts the first by id is selected`, async (t) => {
    t.same(hostsOf({ hosts: hosts(count), vms: vms(1) }), ["h000"]);
  });

  t.test(
    `of ${count} hosts the one with the most headroom is selected, or the least when consolidating`,
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

  t.test(`of ${count} hosts used CPU counts like memory`, async (t) => {
    const model = {
      hosts: hosts(count).map((host) =>
        host.id === last ? host : { ...host, load: 4 },
      ),
      vms: vms(1),
    };
    t.same(hostsOf(model), [last]);
  });

  t.test(
    `of ${count} hosts a preferred one is selected before one with more headroom`,
    async (t) => {
      const full = { ...vms(1)[0]!, id: "w", memory: 10 * GIB, host: last };
      const model = { hosts: hosts(count), vms: [...vms(1), full] };
      t.equal(hostsOf({ ...model, hostAffinities: [at(last, 1)] })[0], last);
      t.equal(
        hostsOf({ ...model, hostAffinities: [at("h000", -1)] })[0],
        "h001",
      );
      const both = [at(last, 1), { ...at("h001", 2), id: "l2" }];
      t.equal(hostsOf({ ...model, hostAffinities: both })[0], "h001");
    },
  );

  t.test(
    `of ${count} hosts a host with low preference is selected only if no other fits`,
    async (t) => {
      const model = {
        hosts: hosts(count).map((host) =>
          host.id === last ? host : { ...host, memory: 0 },
        ),
        vms: vms(1),
        hostAffinities: [at(last, -5)],
      };
      t.same(hostsOf(model), [last]);
    },
  );

  t.test(
    `of ${count} hosts a required host affinity allows or excludes hosts`,
    async (t) => {
      const model = { hosts: hosts(count), vms: vms(1) };
      t.same(hostsOf({ ...model, hostAffinities: [at(last, Infinity)] }), [
        last,
      ]);
      t.same(hostsOf({ ...model, hostAffinities: [at("h000", -Infinity)] }), [
        "h001",
      ]);
      const off = model.hosts.map((host) =>
        host.id === last ? { ...host, state: "disabled" as const } : host,
      );
      const only = {
        hosts: off,
        vms: vms(1),
        hostAffinities: [at(last, Infinity)],
      };
      t.same(hostsOf(only), ["nowhere"]);
    },
  );

  t.test(
    `on ${count} hosts VMs with preferred anti-affinity are separated while capacity lasts`,
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
      t.notOk(
        hostsOf(crowded).includes("nowhere"),
        "a preference excludes no host",
      );
      const required = [apart({ required: true }, [...ids, "w"])];
      const out = hostsOf({ ...crowded, groups: required });
      t.equal(
        out.filter((host) => host === "nowhere").length,
        1,
        "a rule does",
      );
    },
  );

  t.test(
    `on ${count} hosts VMs with affinity share the first host with capacity for all`,
    async (t) => {
      const members = vms(4, { memory: 4 * GIB });
      const other = { ...members[0]!, id: "w", host: "h000" };
      const ids = members.map(({ id }) => id);
      for (const required of [true, false]) {
        const groups = [apart({ required, kind: "affinity" }, ids)];
        const model = { hosts: hosts(count), vms: [...members, other], groups };
        const homes = new Set(hostsOf(model).slice(0, 4));
        t.same([...homes], ["h001"], required ? "a rule" : "a preference");
      }
    },
  );
}
