import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { foreignImage } from "../src/target/foreign-image.js";
import { VmwareSource, listVmwareVms } from "../src/vmware/vmware-source.js";
import { parseFlatDescriptor } from "../src/vmware/flat-descriptor.js";
import {
  CONTROLLER,
  NICS,
  diskDevice,
  flatDescriptor,
  startFakeVsphere,
  type FakeVsphere,
} from "./fake-vsphere.js";
import { readXvaDisks } from "./read-xva.js";
import { rejectsSafely } from "./rejects-safely.js";

const MIB = 1024 * 1024;
const SYSTEM = 6 * MIB;
const DATA = 3 * MIB;
const { signal } = new AbortController();

/** A vCenter with one VM of two disks. */
async function setUp(t: Test, powerState = "poweredOff") {
  const fake = await startFakeVsphere(t);
  const system = Buffer.alloc(SYSTEM);
  randomBytes(MIB).copy(system, 4 * MIB);
  const data = randomBytes(DATA);
  fake.files
    .set(
      "vm/system.vmdk",
      flatDescriptor(`RW ${SYSTEM / 512} VMFS "system-flat.vmdk"`),
    )
    .set("vm/system-flat.vmdk", system)
    .set(
      "vm/data.vmdk",
      flatDescriptor(
        'RW 2048 FLAT "data-f001.vmdk" 0',
        "RW 2048 ZERO",
        'RW 2048 FLAT "data-f001.vmdk" 4096',
      ),
    )
    .set("vm/data-f001.vmdk", data);
  fake.vms.push({
    id: "vm-1",
    name: "web%2fmail",
    powerState,
    devices:
      diskDevice("data", DATA, { unit: 1 }) +
      diskDevice("system", SYSTEM) +
      CONTROLLER +
      NICS,
  });
  const expected = Buffer.alloc(DATA);
  data.copy(expected, 0, 0, MIB);
  data.copy(expected, 2 * MIB, 2 * MIB);
  return { fake, system, data: expected };
}

const connection = ({ host, fingerprint }: FakeVsphere) => ({
  host,
  user: "user",
  password: "secret&word",
  tls: { fingerprints: [fingerprint] },
});

function open(fake: FakeVsphere, stop = false, figures: object[] = []) {
  return VmwareSource.open({
    server: connection(fake),
    vm: "vm-1",
    stop,
    signal,
    onProgress: (one) => figures.push(one),
  });
}

/** The disks as a pool would see them. */
async function importVm(source: VmwareSource) {
  const folders = Object.fromEntries(
    source.vm.disks.map(({ id }, i) => [id, `Ref:${i + 2}`]),
  );
  const parts: Buffer[] = [];
  for await (const part of foreignImage(source, { ova: "<x/>", folders }))
    parts.push(Buffer.from(part));
  await source.close();
  const { disks, files } = readXvaDisks(Buffer.concat(parts), source.vm.disks);
  return { disks: Object.values(disks), files };
}

t.test("a VM is read with its disks", async (t) => {
  const { fake, system, data } = await setUp(t);
  const figures: object[] = [];
  const source = await open(fake, false, figures);
  t.match(source.vm, {
    name: "web/mail",
    description: "from <elsewhere>",
    vcpus: 4,
    coresPerSocket: 2,
    memory: 2048 * MIB,
    firmware: "uefi",
    secureBoot: true,
    disks: [
      { name: "system", size: SYSTEM, position: 0 },
      { name: "data", size: DATA, position: 1 },
    ],
    nics: [
      { network: "Production", mac: "00:50:56:aa:00:01" },
      { network: "VM Network", mac: "00:50:56:aa:00:02" },
    ],
  });
  const { disks, files } = await importVm(source);
  t.ok(disks[0]!.equals(system));
  t.ok(disks[1]!.equals(data), "extents and zeros between them");
  t.notOk(files.includes("Ref:2/00000002"), "zeros are not passed on");
  t.match(figures.at(-1), { done: SYSTEM + 2 * MIB });
  t.ok(
    fake.requests.some((one) =>
      one.startsWith(
        "vm/system-flat.vmdk?dcPath=Eu%2Frope%2FParis&dsName=ds+1 bytes=0-",
      ),
    ),
    "by the path of the data center",
  );
  t.equal(fake.requests.at(-1), "Logout");
});

t.test(
  "a broken connection and an expired session are continued",
  async (t) => {
    const { fake, system } = await setUp(t);
    fake.faults.set("vm/system-flat.vmdk", "cut");
    fake.faults.set("vm/system.vmdk", "expired");
    const { disks } = await importVm(await open(fake));
    t.ok(disks[0]!.equals(system));
    t.equal(fake.requests.filter((one) => one === "Login").length, 2);
    const again = fake.requests.filter((one) =>
      one.startsWith("vm/system-flat.vmdk"),
    );
    t.equal(again.length, 2);
    t.notMatch(again[1], /bytes=0-/, "from where it ended");
  },
);

t.test("other bytes than requested are refused", async (t) => {
  const { fake } = await setUp(t);
  fake.faults.set("vm/system-flat.vmdk", "shifted");
  const source = await open(fake);
  await rejectsSafely(
    t,
    importVm(source),
    "source-invalid",
    /other bytes than requested/,
  );
  await source.close();
});

t.test("a VM that runs is refused, or powered off", async (t) => {
  const { fake, system } = await setUp(t, "poweredOn");
  await rejectsSafely(t, open(fake), "source-invalid", /shut it down first/);
  const figures: object[] = [];
  const source = await open(fake, true, figures);
  t.notOk(fake.requests.includes("PowerOffVM_Task"), "not before its import");
  const { disks } = await importVm(source);
  t.ok(disks[0]!.equals(system));
  t.ok(fake.requests.includes("PowerOffVM_Task"));
  t.match(figures[0], { stopped: 1 });
});

t.test("a VM that was started meanwhile is not imported", async (t) => {
  const { fake } = await setUp(t);
  const source = await open(fake);
  const contents = source.contents();
  for await (const { parts } of contents)
    for await (const part of parts) void part;
  fake.vms[0]!.powerState = "poweredOn";
  await rejectsSafely(t, source.verify(), "source-invalid", /was started/);
  await source.close();
});

t.test(
  "what cannot be read is listed with its reason, and refused",
  async (t) => {
    const { fake } = await setUp(t);
    const [usual] = fake.vms;
    const cases: [string, object, RegExp][] = [
      ["snapshots", { snapshot: "x" }, /has snapshots/],
      [
        "a disk of a snapshot",
        { devices: diskDevice("a", MIB, { backing: "<parent/>" }) },
        /belongs to a snapshot/,
      ],
      [
        "a raw device",
        {
          devices: diskDevice("a", MIB, {
            backing: "type:VirtualDiskRawDiskMappingVer1BackingInfo",
          }),
        },
        /not a flat disk of a datastore \(VirtualDiskRawDiskMappingVer1\)/,
      ],
      [
        "encryption",
        { devices: diskDevice("a", MIB, { backing: "<keyId/>" }) },
        /is encrypted/,
      ],
    ];
    for (const [what, change, reason] of cases) {
      fake.vms[0] = { ...usual!, ...change };
      const [listed] = await listVmwareVms(connection(fake), signal);
      t.match(listed!.obstacle, reason, what);
      await rejectsSafely(t, open(fake), "source-invalid", reason);
    }
  },
);

t.test(
  "a server that refuses or is none is named without secrets",
  async (t) => {
    const { fake } = await setUp(t);
    const list = (change: object) =>
      listVmwareVms({ ...connection(fake), ...change }, signal);
    await rejectsSafely(
      t,
      list({ password: "secret" }),
      "transfer-failed",
      /Login: Login failure/,
    );
    await rejectsSafely(
      t,
      list({ tls: {} }),
      "untrusted",
      /not trusted.*SHA-256 [0-9a-f]{64}/,
    );
    await rejectsSafely(t, list({ host: "a b" }), "invalid", /host/);
    for (const [method, answer, message] of [
      ["RetrieveServiceContent", "<html>", /XML: /],
      ["RetrieveServiceContent", "<x/>", /no response to/],
      ["CreateContainerView", "<!DOCTYPE x>", /no valid markup/],
    ] as const) {
      fake.answers.set(method, answer);
      await rejectsSafely(t, list({}), "source-invalid", message);
      fake.answers.delete(method);
    }
  },
);

t.test(
  "descriptors that are not those of a whole flat disk are refused",
  (t) => {
    const cases: [string, RegExp][] = [
      ["KDMV", /no descriptor/],
      [
        String(flatDescriptor('RW 2 VMFS "a.vmdk"')).replace(
          "ffffffff",
          "1234",
        ),
        /has a parent/,
      ],
      [String(flatDescriptor('RW 2 SESPARSE "a.vmdk"')), /only flat disks/],
      [String(flatDescriptor('RW 2 VMFS "../a.vmdk"')), /no file beside it/],
      [String(flatDescriptor("RW 2 VMFS")), /no file beside it/],
      [String(flatDescriptor('RW 3 VMFS "a.vmdk"')), /1536 bytes, 1024 are/],
      [String(flatDescriptor('RDONLY 2 VMFS "a.vmdk"')), /only flat disks/],
    ];
    for (const [text, message] of cases)
      t.throws(() => parseFlatDescriptor(text, 1024), {
        code: "source-invalid",
        message,
      });
    t.end();
  },
);
