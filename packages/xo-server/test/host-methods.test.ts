import { makeLoopbackCertificate } from "@xo-server/certificate";
import t, { type Test } from "tap";
import type { Operation } from "../src/operations/operation.js";
import { Rights } from "../src/rights/rights.js";
import type { FakeObject } from "./fake-objects.js";
import { setUp, objects, host } from "./host-pool.js";

/** Operations, their parameters, and the calls of XAPI that they make. */
const REQUESTS: readonly [string, object, readonly string[]][] = [
  ["host.enable", { id: "h1" }, ["host.enable ref:h1"]],
  ["host.disable", { id: "h1" }, ["host.disable ref:h1"]],
  [
    "host.disable",
    { id: "h1", transient: false },
    ["host.disable ref:h1 false"],
  ],
  [
    "host.restart",
    { id: "h1" },
    [
      "host.get_vms_which_prevent_evacuation ref:h1",
      "host.disable ref:h1",
      "host.evacuate ref:h1",
      "host.reboot ref:h1",
    ],
  ],
  [
    "host.stop",
    { id: "h1", bypassEvacuate: true },
    ["host.disable ref:h1", "host.shutdown ref:h1"],
  ],
  ["host.start", { id: "h1" }, ["host.power_on ref:h1"]],
  [
    "host.evacuate",
    { id: "h1", network: "net" },
    [
      "host.get_vms_which_prevent_evacuation ref:h1",
      "host.evacuate ref:h1 ref:net",
    ],
  ],
  [
    "host.emergencyShutdownHost",
    { host: "h2" },
    ["host.disable ref:h2", "VM.suspend ref:h2-v", "host.shutdown ref:h2"],
  ],
  [
    "host.set",
    { id: "h1", name_label: "n", iscsiIqn: "iqn", multipathing: true },
    [
      "host.set_name_label ref:h1 n",
      "host.set_multipathing ref:h1 true",
      "host.set_iscsi_iqn ref:h1 iqn",
    ],
  ],
  ["host.detach", { id: "h1" }, ["pool.eject ref:h1"]],
  ["host.scanPifs", { id: "h1" }, ["PIF.scan ref:h1"]],
  [
    "host.resetCertificate",
    { id: "h1" },
    ["host.reset_server_certificate ref:h1"],
  ],
  [
    "host.refreshCertificate",
    { id: "h1" },
    ["host.refresh_server_certificate ref:h1"],
  ],
  [
    "host.managementReconfigure",
    { id: "h1", pif: "pif" },
    ["host.management_reconfigure ref:pif"],
  ],
  [
    "host.setRemoteSyslogHost",
    { id: "h1", syslogDestination: null },
    [
      "host.remove_from_logging ref:h1 syslog_destination",
      "host.syslog_reconfigure ref:h1",
    ],
  ],
  [
    "pool.set",
    { id: "p", auto_poweron: true, suspendSr: null, tags: ["a"] },
    [
      'pool.set_tags ref:p ["a"]',
      "pool.set_suspend_image_SR ref:p OpaqueRef:NULL",
      "pool.remove_from_other_config ref:p auto_poweron",
      "pool.add_to_other_config ref:p auto_poweron true",
    ],
  ],
  ["pool.setDefaultSr", { sr: "sr" }, ["pool.set_default_SR ref:p ref:sr"]],
  ["pool.setPoolMaster", { host: "h1" }, []],
  [
    "pool.enableHa",
    { pool: "p", heartbeatSrs: ["sr"], configuration: {} },
    ["SR.assert_can_host_ha_statefile ref:sr", 'pool.enable_ha ["ref:sr"] {}'],
  ],
  ["pool.disableHa", { pool: "p" }, ["pool.disable_ha"]],
  [
    "pool.managementReconfigure",
    { id: "p", network: "net" },
    ["pool.management_reconfigure ref:net"],
  ],
];

t.test("requests to XAPI", async (t) => {
  const asked = async (name: string, params: object) => {
    const { calls, run } = setUp();
    t.equal(await run(name, params), true, name);
    return calls;
  };
  for (const [name, params, calls] of REQUESTS)
    t.same(await asked(name, params), calls, name);
});

t.test("VMs that prevent an evacuation are listed", async (t) => {
  const { calls, run } = setUp({
    "host.get_vms_which_prevent_evacuation": () => ({
      "ref:h1-v": ["VM_HAS_PCI_ATTACHED", "ref:h1-v"],
    }),
  });
  t.same(await run("host.listVmsPreventingEvacuation", { id: "h1" }), [
    {
      id: "h1-v",
      name: "h1-v",
      code: "VM_HAS_PCI_ATTACHED",
      params: ["ref:h1-v"],
    },
  ]);
  t.same(calls, ["host.get_vms_which_prevent_evacuation ref:h1"]);
});

t.test("problems that prevent HA are reported before", async (t) => {
  const { calls, run, fakes } = setUp({
    "pool.ha_compute_max_host_failures_to_tolerate": () => "1",
  });
  const sr = objects.find(({ id }) => id === "sr")!;
  const params = { pool: "p", heartbeatSrs: ["sr"] };
  const cases: readonly [FakeObject, object][] = [
    [
      { ...sr, shared: false },
      { object: "sr", property: "shared" },
    ],
    [
      { ...sr, physical_usage: 2 ** 40 },
      { object: "sr", property: "free space", actual: 0 },
    ],
    [
      { ...sr, $PBDs: ["pbd1"] },
      { object: "sr", property: "connection", actual: "not to host h2" },
    ],
    [host("h2", { power_state: "Halted" }), { object: "h2" }],
    [{ ...objects[0]!, HA_enabled: true }, { object: "p" }],
  ];
  for (const [wrong, data] of cases) {
    const right = objects.find(({ id }) => id === wrong.id)!;
    fakes.set(wrong);
    const error = { code: "INCORRECT_STATE", data };
    await t.rejects(run("pool.enableHa", params), error, JSON.stringify(data));
    fakes.set(right);
  }
  t.same(calls, []);
  const failures = { pool: "p", hostFailuresToTolerate: 2 };
  await t.rejects(run("pool.setHaHostFailures", failures), {
    code: "INVALID_PARAMETERS",
    message: /at most 1 host failures/,
  });
});

t.test("only pools of one host join others", async (t) => {
  const { calls, run } = setUp();
  await t.rejects(run("pool.mergeInto", { target: "p" }), {
    code: "INVALID_PARAMETERS",
  });
  const merge = { source: "p", target: "p" };
  await t.rejects(run("pool.mergeInto", merge), {
    code: "INCORRECT_STATE",
    data: { property: "number of hosts" },
  });
  await t.rejects(run("pool.addHost", { pool: "p", host: "h1" }), {
    code: "INCORRECT_STATE",
  });
  t.same(calls, []);
});

t.test("states that do not allow it are named", async (t) => {
  const { calls, run, fakes } = setUp();
  await t.rejects(run("host.forget", { id: "h1" }), {
    code: "INCORRECT_STATE",
    data: { property: "power_state", actual: "Running", expected: "Halted" },
  });
  fakes.set(host("h2", { enabled: false }));
  await t.rejects(run("pool.rollingReboot", { pool: "p" }), {
    code: "INCORRECT_STATE",
    data: { object: "h2", property: "enabled" },
  });
  t.same(calls, []);
});

t.test("dom0's memory is set in maintenance only", async (t) => {
  const { calls, run, fakes } = setUp({
    "VM.get_memory_static_min": () => String(2 ** 32),
  });
  const params = { id: "h2", memory: 2 ** 31 };
  await t.rejects(run("host.setControlDomainMemory", params), {
    code: "INCORRECT_STATE",
    data: { property: "enabled" },
  });
  fakes.set(host("h2", { enabled: false, memory: { size: 2 ** 33 } }));
  t.equal(await run("host.setControlDomainMemory", params), true);
  const limits = Array.from({ length: 4 }, () => String(2 ** 31)).join(" ");
  t.same(calls, [
    "VM.get_memory_static_min ref:dom0",
    `VM.set_memory_limits ref:dom0 ${limits}`,
  ]);
  const all = { id: "h2", memory: 2 ** 33 };
  await t.rejects(run("host.setControlDomainMemory", all), {
    code: "INVALID_PARAMETERS",
  });
});

t.test("data of hosts about themselves", async (t) => {
  const { run, clock } = setUp({
    "host.call_plugin": ([, file]) =>
      file === "hyperthreading.py" ? "true" : '{"sda":"PASSED","sdb":"?"}',
    "host.get_sched_gran": () => "core",
    "host.get_servertime": () =>
      new Date(clock.now() - 60_000).toISOString().replace(/[-]|\.\d+/g, ""),
  });
  t.equal(await run("host.isHyperThreadingEnabled", { id: "h1" }), true);
  t.same(await run("host.getSmt", { id: "h1" }), { enabled: true });
  t.same(
    await run("host.getSmartctlInformation", {
      id: "h1",
      deviceNames: ["sda"],
    }),
    { sda: "PASSED" },
  );
  t.equal(await run("host.getSchedulerGranularity", { id: "h1" }), "core");
  t.match(await run("host.getBiosInfo", { id: "h1" }), {
    currentBiosVersion: "1.2",
  });
  t.equal(await run("host.isHostServerTimeConsistent", { host: "h1" }), false);
});

/** As hosts of XenServer 6 have it: RSA with 1,024 bits. */
const rsa1024 = `-----BEGIN CERTIFICATE-----
MIIB+jCCAWOgAwIBAgIUX+50EAAjjNU4Ao05XpvfGKtWZskwDQYJKoZIhvcNAQEL
BQAwDjEMMAoGA1UEAwwDb2xkMCAXDTI2MTEyODEyNDIwNloYDzIxMjYxMTA0MTI0
MjA2WjAOMQwwCgYDVQQDDANvbGQwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGB
ANWUQsJWqOOL5oYp6nipaTM2H4G/ucvSwT67xiM2UDUTpMtgH0qdFIsC6O/W9oBx
jqVreWbpS/Cl0nua6ec2D6Yv8Q1YNKXKlIiKuhOsIQ9t3mTz8+wh4w99HR3CBEvx
mYXBeTRjapjxT+wB/AM9Bi9KJdCiRUQYaglSoX79J4xvAgMBAAGjUzBRMB0GA1Ud
DgQWBBQ81KW2TCMC8J+f1A+QT6AbCmgzYTAfBgNVHSMEGDAWgBQ81KW2TCMC8J+f
1A+QT6AbCmgzYTAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4GBAB7Y
y9GbYZG8jSRAZsQQbEI0oSJeXBGGukcuURBwjlw5OGF+8hPmz+EKTxE+VCAz6Ims
Z7aRX6X4QkjyWJN0I16WvsdI6OiD12/Vl6WDJEin3QwhWXfl6no0wHjK1aklU4LV
43aTySpZSn3GWRBDf0+5wX2IYcJ46uZjVp4FLsJe
-----END CERTIFICATE-----`;

t.test("the TLS key of a host has at least 2,048 bits", async (t) => {
  for (const [pem, expected] of [
    [makeLoopbackCertificate().cert, false],
    [rsa1024, true],
    ["-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", undefined],
    ["", undefined],
  ] as const) {
    const { run } = setUp({ "host.get_server_certificate": () => pem });
    const asked = run("host.isPubKeyTooShort", { id: "h1" });
    if (expected !== undefined) t.equal(await asked, expected);
    else
      await t.rejects(asked, {
        code: "UNSUPPORTED",
        data: { what: "host.isPubKeyTooShort" },
      });
  }
});

/** Parameters that each operation takes, so that only rights are in the way. */
function paramsOf({ params }: Operation): object {
  const known: Readonly<Record<string, unknown>> = {
    host: "h1",
    pool: "p",
    sr: "sr",
    network: "net",
    pif: "pif",
    maintenance: true,
    syslogDestination: null,
    powerOnMode: "",
    schedulerGranularity: "core",
    certificate: "c",
    privateKey: "k",
    memory: 2 ** 31,
    heartbeatSrs: ["sr"],
    hostFailuresToTolerate: 1,
    target: "p",
  };
  const required = (params.required ?? []) as readonly string[];
  return Object.fromEntries(required.map((name) => [name, known[name]]));
}

t.test("users cannot do what their rights do not allow", async (t: Test) => {
  const { calls, run, as, operations } = setUp();
  const reader = as(
    new Rights([{ effect: "allow", action: "read", resource: "*" }]),
  );
  const operator = as(
    new Rights([
      { effect: "allow", action: "read", resource: "*" },
      { effect: "allow", action: "operate", resource: "*" },
    ]),
  );
  const unprivileged = as(Rights.none);
  for (const operation of operations) {
    const { name, permission, changes = false } = operation;
    const of = (id: string) => ({ ...paramsOf(operation), id });
    const id = name.startsWith("pool.") ? "p" : "h1";
    const takesId = Object.hasOwn(operation.params.properties, "id");
    const params = takesId ? of(id) : paramsOf(operation);
    t.type(permission, "object", name);
    await t.rejects(run(name, params, unprivileged), {
      code: "NO_SUCH_OBJECT",
    });
    if (!changes) continue;
    await t.rejects(run(name, params, reader), { code: "FORBIDDEN" }, name);
    await t.rejects(run(name, params, operator), { code: "FORBIDDEN" }, name);
  }
  t.same(calls, []);
});

t.test("objects named beside it are checked too", async (t) => {
  const { calls, run, as } = setUp();
  const manager = as(
    new Rights([
      { effect: "allow", action: "*", resource: "host" },
      { effect: "allow", action: "*", resource: "pool" },
    ]),
  );
  const hidden = { code: "NO_SUCH_OBJECT" };
  const cases: readonly [string, object][] = [
    ["host.evacuate", { id: "h1", network: "net" }],
    ["host.managementReconfigure", { id: "h1", pif: "pif" }],
    ["host.disable", { id: "h1", evacuate: true, vmsToForceMigrate: ["h1-v"] }],
    ["pool.set", { id: "p", suspendSr: "sr" }],
    ["pool.setDefaultSr", { sr: "sr" }],
    ["pool.enableHa", { pool: "p", heartbeatSrs: ["sr"] }],
    ["pool.managementReconfigure", { id: "p", network: "net" }],
  ];
  for (const [name, params] of cases)
    await t.rejects(run(name, params, manager), hidden, name);
  t.same(calls, []);
});
