import t from "tap";
import { pciOperations } from "../src/methods/vm/pci.js";
import { usbOperations } from "../src/methods/vm/usb.js";
import { vtpmOperations } from "../src/methods/vm/vtpm.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import type { CallContext } from "../src/operations/operation.js";
import { Rights } from "../src/rights/rights.js";
import { FakeObjects } from "./fake-objects.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const types = ["VM", "VTPM", "VUSB", "USB_group", "PCI"];
const objects = types.map((type) => ({
  id: type.toLowerCase(),
  type,
  $pool: "p",
  _xapiRef: `ref:${type}`,
}));

function setUp() {
  const { catalog } = new FakeObjects(objects).views;
  const calls: string[] = [];
  const call = async (method: string, params: readonly unknown[] = []) => {
    calls.push([method, ...params.map(String)].join(" "));
    return method.endsWith(".create") ? `ref:new` : "uuid";
  };
  const session = async () => "OpaqueRef:session";
  const xapi = { call, callAsync: call, session };
  const poolObjects = new PoolObjects(catalog, { xapi: () => xapi as never });
  const dispatcher = createTestDispatcher(
    [...vtpmOperations, ...usbOperations, ...pciOperations],
    {
      logger: { error: () => undefined } as never,
      objects: poolObjects,
    },
  );
  const run = (name: string, params: object, rights = Rights.all) =>
    dispatcher.call(name, params, {
      user: { id: "u", name: "u", isAdmin: false, groups: [], rights },
      permission: "user",
      address: "127.0.0.1",
    } as unknown as CallContext);
  return { calls, run };
}

const cases: readonly [string, object, readonly string[]][] = [
  [
    "vtpm.create",
    { id: "vm" },
    ["VTPM.create ref:VM false", "VTPM.get_uuid ref:new"],
  ],
  ["vtpm.destroy", { id: "vtpm" }, ["VTPM.destroy ref:VTPM"]],
  [
    "vusb.create",
    { vm: "vm", usbGroup: "usb_group" },
    [
      "VUSB.create ref:VM ref:USB_group [object Object]",
      "VUSB.get_uuid ref:new",
    ],
  ],
  ["vusb.unplug", { id: "vusb" }, ["VUSB.unplug ref:VUSB"]],
  ["vusb.destroy", { id: "vusb" }, ["VUSB.destroy ref:VUSB"]],
  [
    "pci.disableDom0Access",
    { pcis: ["pci"], disable: true },
    ["PCI.disable_dom0_access ref:PCI"],
  ],
  [
    "pci.disableDom0Access",
    { pcis: ["pci"], disable: false },
    ["PCI.enable_dom0_access ref:PCI"],
  ],
];

t.test("requests to XAPI for devices", async (t) => {
  for (const [name, params, asked] of cases) {
    const { calls, run } = setUp();
    await run(name, params);
    t.same(calls, asked, name);
  }
});

t.test("users cannot do what their rights do not allow", async (t) => {
  const operator = new Rights([
    { effect: "allow", action: "read", resource: "*" },
    { effect: "allow", action: "operate", resource: "*" },
  ]);
  for (const [name, params] of cases) {
    const { calls, run } = setUp();
    await t.rejects(run(name, params, operator), { code: "FORBIDDEN" }, name);
    const unprivileged = run(name, params, Rights.none);
    await t.rejects(unprivileged, { code: "NO_SUCH_OBJECT" }, name);
    t.same(calls, []);
  }
});
