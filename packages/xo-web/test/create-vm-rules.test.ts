import t from "tap";
import { createOrder } from "../src/create-vm/create-order.js";
import {
  draftFor,
  emptyDraft,
  namesOf,
  type Draft,
  type Template,
} from "../src/create-vm/draft.js";
import { familyOf } from "../src/create-vm/os-family.js";
import {
  canCreate,
  problemsOf,
  totalsOf,
  type PoolResources,
} from "../src/create-vm/problems.js";

const GIB = 2 ** 30;
const resources: PoolResources = {
  hosts: [
    {
      id: "h",
      memory: { size: 64 * GIB, usage: 32 * GIB },
      cpus: { cores: 16 },
    },
  ],
  srs: [{ id: "sr", free: 100 * GIB, isThin: false }],
  isPoolKnown: true,
  defaultSr: "sr",
  takenNames: new Set(["taken"]),
  takenMacs: new Set(["02:00:00:00:00:01"]),
  limits: { cpus: { available: 4 } },
  needsSet: false,
};
const disk = {
  key: "0",
  position: "0",
  name: "",
  size: 10 * GIB,
  least: 1,
  sr: "",
};
const good: Draft = {
  ...emptyDraft,
  template: "t",
  pool: "p",
  name: "web",
  disks: [disk],
};
const codes = (change: Partial<Draft>, at: Partial<PoolResources> = {}) =>
  Object.fromEntries(
    [...problemsOf({ ...good, ...change }, { ...resources, ...at })].map(
      ([field, { code }]) => [field, code],
    ),
  );

t.test(
  "a complete form has no problem, an empty one lists required fields",
  (t) => {
    t.same(codes({}), {});
    t.ok(canCreate(problemsOf(good, resources)));
    t.same(codes({ template: "", name: " " }), {
      template: "template",
      name: "name",
    });
    t.notOk(canCreate(problemsOf(emptyDraft, resources)));
    t.end();
  },
);

t.test("names, counts and sizes are checked", (t) => {
  t.same(codes({ name: "taken" }), { name: "nameTaken" });
  t.ok(
    canCreate(problemsOf({ ...good, name: "taken" }, resources)),
    "XAPI permits equal names",
  );
  t.same(codes({ count: 251, disks: [] }), { count: "count" });
  t.same(codes({ cpus: 6, coresPerSocket: 4 }), { coresPerSocket: "topology" });
  t.same(codes({ cpus: 17 }), { cpus: "cpusOfHosts" });
  t.same(codes({ cpus: 1.5 }), { cpus: "cpus" });
  t.same(codes({ memory: 40 * GIB }), { memory: "memoryOfHosts" });
  t.same(codes({ memory: Number.NaN }), { memory: "memory" });
  t.end();
});

t.test("disks of all VMs have to fit on their SR", (t) => {
  t.same(codes({ count: 10 }), {});
  t.same(codes({ count: 11 }), { "disk:0": "srFull" });
  const thin = { srs: [{ id: "sr", free: 1, isThin: true }] };
  t.ok(canCreate(problemsOf(good, { ...resources, ...thin })), "thin ones may");
  t.same(codes({}, { defaultSr: undefined }), { "disk:0": "noSr" });
  const unread = { isPoolKnown: false, defaultSr: undefined };
  t.same(codes({}, unread), {}, "the pool is still being read");
  const shrunk = { ...disk, size: 5 * GIB, least: 10 * GIB };
  t.same(codes({ disks: [shrunk] }), { "disk:0": "diskSize" });
  t.end();
});

t.test("MAC addresses are well-formed and unique", (t) => {
  const vif = (key: string, mac: string) => ({ key, network: "n", mac });
  const mac = "02:16:3e:00:00:01";
  t.same(codes({ vifs: [vif("a", mac)] }), {});
  t.same(codes({ vifs: [vif("a", "zz")] }), { "vif:a": "macFormat" });
  t.same(codes({ vifs: [vif("a", mac), vif("b", mac.toUpperCase())] }), {
    "vif:b": "macTwice",
  });
  t.same(codes({ vifs: [vif("a", "02:00:00:00:00:01")] }), {
    "vif:a": "macTaken",
  });
  t.same(codes({ count: 2, vifs: [vif("a", mac)] }), { "vif:a": "macOfMany" });
  t.same(codes({ vifs: [{ ...vif("a", ""), network: "" }] }), {
    "vif:a": "network",
  });
  t.end();
});

t.test("users without own rights are limited to a resource set", (t) => {
  t.same(codes({}, { needsSet: true }), { resourceSet: "needsSet" });
  t.same(codes({ resourceSet: "s", cpus: 5 }), { resourceSet: "quota" });
  t.same(codes({ resourceSet: "s", cpus: 4 }), {});
  t.end();
});

t.test("names of many have numbers", (t) => {
  const many = { ...good, count: 3, firstIndex: 9 };
  t.same(namesOf({ ...many, name: "web-{index:02}" }), [
    "web-09",
    "web-10",
    "web-11",
  ]);
  t.same(namesOf(many, 2), ["web 9", "web 10"]);
  t.same(namesOf(good), ["web"]);
  t.same(totalsOf({ ...many, cpus: 2 }), {
    cpus: 6,
    memory: 6 * GIB,
    disk: 30 * GIB,
  });
  t.end();
});

const template = {
  id: "t",
  type: "VM-template",
  $pool: "p",
  isDefaultTemplate: true,
  CPUs: { number: 2 },
  coresPerSocket: 2,
  memory: { size: 4 * GIB, dynamic: [4 * GIB, 4 * GIB], static: [0, 0] },
  template_info: { disks: [{ device: "0", size: 32 * GIB, SR: "" }] },
} as unknown as Template;
const nothing = { vbds: [], vdis: [], vifs: [], network: "n" };

t.test("a template fills in its defaults; entered values stay", (t) => {
  const draft = draftFor(template, nothing, { ...good, starts: false });
  t.match(draft, {
    name: "web",
    starts: false,
    cpus: 2,
    coresPerSocket: 2,
    boot: "iso",
    memory: 4 * GIB,
    vifs: [{ network: "n", mac: "" }],
    disks: [{ position: "0", size: 32 * GIB, sr: "" }],
  });
  const own = draftFor(template, {
    ...nothing,
    vbds: [{ position: "3", VDI: "d" }],
    vdis: [{ id: "d", type: "VDI", name_label: "root", size: GIB, $SR: "sr" }],
  });
  t.match(own.disks, [
    { position: "3", name: "root", size: GIB, least: GIB, sr: "sr" },
  ]);
  t.equal(own.boot, "template");
  t.end();
});

t.test("only changed disks of the template are requested", (t) => {
  const before = draftFor(
    template,
    {
      ...nothing,
      vbds: [{ position: "0", VDI: "d" }],
      vdis: [{ id: "d", type: "VDI", size: 32 * GIB }],
    },
    good,
  );
  const order = (change: Partial<Draft>) =>
    createOrder({ ...before, ...change }, before.disks);
  const { method, params } = order({});
  t.equal(method, "vm.create");
  t.match(params, {
    template: "t",
    name_label: "web",
    CPUs: 2,
    coresPerSocket: 2,
    VIFs: [{ network: "n" }],
    bootAfterCreate: true,
  });
  t.notOk("VDIs" in params);
  const [first] = before.disks;
  const more = { key: "n", name: "data", size: GIB, least: 1, sr: "sr" };
  t.same(
    order({ disks: [{ ...first!, size: 64 * GIB }, more] }).params["VDIs"],
    [
      { userdevice: "0", size: 64 * GIB },
      { name_label: "data", size: GIB, SR: "sr" },
    ],
  );
  t.same(order({ disks: [] }).params["VDIs"], [
    { userdevice: "0", destroy: true },
  ]);
  t.end();
});

t.test(
  "if a template only describes its disks, a change requests all of them",
  (t) => {
    const before = draftFor(template, nothing, good);
    const [first] = before.disks;
    const more = { key: "n", name: "data", size: GIB, least: 1, sr: "" };
    const requested = (disks: Draft["disks"]) =>
      createOrder({ ...before, disks }, before.disks).params["VDIs"];
    t.equal(requested([first!]), undefined);
    t.same(requested([first!, more]), [
      { userdevice: "0", size: 32 * GIB },
      { name_label: "data", size: GIB },
    ]);
    t.same(requested([more]), [{ name_label: "data", size: GIB }]);
    t.same(requested([]), [{ userdevice: "0", destroy: true }]);
    t.end();
  },
);

t.test("user data that cloud-init would ignore are a warning", (t) => {
  t.same(codes({ cloudConfig: "users: []" }), {
    cloudConfig: "cloudConfigHead",
  });
  for (const cloudConfig of [
    "#cloud-config\n",
    "#!/bin/sh\n",
    "MIME-Version: 1",
  ])
    t.same(codes({ cloudConfig }), {});
  t.end();
});

t.test(
  "several VMs are one operation; installation and configuration are reported",
  (t) => {
    const { method, params } = createOrder(
      {
        ...good,
        count: 3,
        firstIndex: 5,
        boot: "network",
        tags: "a, b,",
        cloudConfig: "#cloud-config",
        dropsConfig: true,
        vtpm: true,
      },
      good.disks,
    );
    t.equal(method, "vm.createMultiple");
    t.match(params, {
      count: 3,
      firstIndex: 5,
      tags: ["a", "b"],
      createVtpm: true,
      installation: { method: "network", repository: "pxe" },
      cloudConfig: "#cloud-config",
      destroyCloudConfigVdiAfterBoot: true,
    });
    t.notOk("networkConfig" in params);
    t.end();
  },
);

t.test("templates are sorted by operating system family", (t) => {
  t.same(
    ["Windows 11", "Rocky Linux 9", "FreeBSD 14", "CoreOS", "Appliance"].map(
      familyOf,
    ),
    ["windows", "redHat", "bsd", "linux", "rest"],
  );
  t.end();
});
