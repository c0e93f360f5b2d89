import type { View, ViewObject, ViewSource } from "@xo-server/inventory";

/** Builds by class and reference. */
export type Builds = Map<string, number>;

export interface TestViews {
  readonly views: readonly View[];
  readonly builds: Builds;
}

/** Three small views that read each other in every way there is, and count how often each is made. */
export function createTestViews(): TestViews {
  const builds: Builds = new Map();
  const counted = (view: View): View => ({
    ...view,
    build: (source) => {
      const key = `${view.className}/${source.ref}`;
      builds.set(key, (builds.get(key) ?? 0) + 1);
      return view.build(source);
    },
  });
  return { builds, views: [poolView, vmView, vbdView, srView].map(counted) };
}

const shape = { searched: ["name_label"] };

const poolView: View = {
  ...shape,
  className: "pool",
  types: ["pool"],
  typeOf: () => "pool",
  reads: {},
  build: ({ record }) => ({ name_label: record["name_label"] }),
};

/** Reads the pool's record, two records of other classes, and ids; as a default template its id has the pool's before it. */
const vmView: View = {
  ...shape,
  className: "VM",
  types: ["VM", "VM-template"],
  typeOf: (record) => (record["is_a_template"] === true ? "VM-template" : "VM"),
  idOf: ({ record, links }) => {
    if (record["isDefault"] !== true) return record["uuid"] as string;
    return links.poolId && `${links.poolId}-${record["uuid"] as string}`;
  },
  reads: { host: ["name_label"], VM: ["name_label"] },
  build: ({ record, links }: ViewSource): ViewObject => ({
    name_label: record["name_label"],
    $VBDs: links.ids("VBD", record["VBDs"]),
    host: links.record("host", record["host"])?.["name_label"] ?? null,
    twin: links.recordByUuid?.("VM", String(record["twin"]))?.["name_label"],
    poolName: links.pool()?.["name_label"],
    other: record["other"] ?? {},
  }),
};

const vbdView: View = {
  ...shape,
  className: "VBD",
  types: ["VBD"],
  typeOf: () => "VBD",
  reads: {},
  build: ({ record, links }) => ({
    VM: links.id("VM", record["VM"]),
    device: record["device"] ?? null,
  }),
};

const srView: View = {
  ...shape,
  className: "SR",
  types: ["SR"],
  typeOf: () => "SR",
  reads: {},
  build: ({ record }) => ({ name_label: record["name_label"] }),
};
