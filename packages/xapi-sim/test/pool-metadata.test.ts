import { existsSync, readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { dumpDatabase, readDump } from "../src/transfer/database-dump.js";
import { createTestPool } from "./operations-pool.js";
import { startDiskPool, type DiskPool } from "./disk-client.js";
import { toAnswer } from "./transfer-client.js";

const refsIn = (result: string) => result.match(/OpaqueRef:[-\w]+/g) ?? [];

/** A halted VM with disks and a snapshot of it. */
async function withSnapshot({ call, server }: DiskPool) {
  const { database } = server.pool;
  const [vm] = [...database.records("VM")].find(
    ([, record]) =>
      record["power_state"] === "Halted" &&
      record["is_a_template"] === false &&
      (record["VBDs"] as string[]).length > 0 &&
      (record["snapshots"] as string[]).length === 0 &&
      Object.keys(record["blocked_operations"] as object).length === 0,
  )!;
  await call("VM.add_tags", vm, "before");
  const snapshot = (await call("VM.snapshot", vm, "s", [])) as string;
  return { vm, snapshot };
}

const uuidsOf = async ({ call, server }: DiskPool, vm: string) => {
  const { database } = server.pool;
  const vbds = (await call("VM.get_VBDs", vm)) as string[];
  return vbds
    .map((ref) => database.get("VBD", ref))
    .filter(({ type }) => type === "Disk")
    .map(({ VDI }) => database.get("VDI", VDI as string)["uuid"])
    .sort();
};

t.test("metadata is imported onto the disks that are there", async (t) => {
  const pool = await startDiskPool(t);
  const { vm, snapshot } = await withSnapshot(pool);
  const { body } = await pool.get(`/export_metadata?ref=${vm}`);
  const { result, status } = await pool.put("/import_metadata", body);
  t.equal(status, "success");
  const [copy, ...others] = refsIn(result);
  t.strictSame(others, [], "snapshots are not in the result");
  t.strictSame(await uuidsOf(pool, copy!), await uuidsOf(pool, vm));
  const { database } = pool.server.pool;
  const [of] = database.get("VM", copy!)["snapshots"] as string[];
  t.match(database.get("VM", of!), {
    is_a_snapshot: true,
    snapshot_of: copy,
    name_label: "s",
  });
  t.strictSame(await uuidsOf(pool, of!), await uuidsOf(pool, snapshot));
  const { result: one } = await pool.put(
    "/import_metadata",
    (await pool.get(`/export_metadata?ref=${vm}&export_snapshots=false`)).body,
  );
  t.strictSame(database.get("VM", refsIn(one)[0]!)["snapshots"], []);
});

t.test(
  "restore=true replaces the VM only with force=true, once halted",
  async (t) => {
    const pool = await startDiskPool(t);
    const { vm } = await withSnapshot(pool);
    const { database } = pool.server.pool;
    const uuid = database.get("VM", vm)["uuid"] as string;
    const { body } = await pool.get(`/export_metadata?uuid=${uuid}`);
    await pool.call("VM.add_tags", vm, "after");
    const refused = await pool.put("/import_metadata?restore=true", body);
    t.match(refused.error_info.join(" "), /DUPLICATE_VM/);
    const dry = await pool.put("/import_metadata?dry_run=true", body);
    t.equal(dry.status, "success");
    const count = database.count("VM");
    const { result, status } = await pool.put(
      "/import_metadata?restore=true&force=true",
      body,
    );
    t.equal(status, "success");
    const restored = database.byUuid("VM", uuid)!;
    t.strictSame(refsIn(result), [restored]);
    t.not(restored, vm);
    const tags = database.get("VM", restored)["tags"] as string[];
    t.ok(tags.includes("before") && !tags.includes("after"));
    t.equal(database.count("VM"), count, "and its snapshot is replaced, too");
  },
);

t.test(
  "disks that are missing are an error, or left out by force",
  async (t) => {
    const pool = await startDiskPool(t);
    const { vm } = await withSnapshot(pool);
    const { database } = pool.server.pool;
    const query = `/export_metadata?ref=${vm}&export_snapshots=false`;
    const { body } = await pool.get(query);
    const [gone] = await uuidsOf(pool, vm);
    await pool.call("VDI.destroy", database.byUuid("VDI", gone as string));
    const before = database.count("VM");
    const { error_info } = await pool.put("/import_metadata", body);
    t.match(error_info.join(" "), /IMPORT_ERROR_ATTACHED_DISKS_NOT_FOUND/);
    t.equal(database.count("VM"), before);
    const { result } = await pool.put("/import_metadata?force=true", body);
    t.strictSame(
      await uuidsOf(pool, refsIn(result)[0]!),
      await uuidsOf(pool, vm),
    );
    const other = await pool.createDisk(2 ** 21);
    const mapped = await pool.put(
      `/import_metadata?vdi:${gone as string}=${other}`,
      body,
    );
    const uuids = await uuidsOf(pool, refsIn(mapped.result)[0]!);
    t.ok(uuids.includes(database.get("VDI", other)["uuid"]));
  },
);

t.test(
  "all=true: every VM but control domains and product templates",
  async (t) => {
    const pool = await startDiskPool(t);
    const { database } = pool.server.pool;
    const { body } = await pool.get("/export_metadata?all=true");
    const { result, status } = await pool.put("/import_metadata", body);
    t.equal(status, "success");
    const requested = (fields: Record<string, unknown>) =>
      fields["is_control_domain"] === false &&
      fields["is_default_template"] === false &&
      fields["is_a_snapshot"] === false;
    const created = new Set(refsIn(result));
    const originals = [...database.records("VM")].filter(
      ([ref, vm]) => requested(vm) && !created.has(ref),
    );
    t.equal(created.size, originals.length);
    t.ok(created.size > 5);
  },
);

t.test("a dump has all that the database has", (t) => {
  const { db, state } = createTestPool();
  const vm = [...db.refs("VM")][0]!;
  db.update("VM", vm, {
    name_label: "it's \\ 100% <\"&>\n\ttab  two spaces",
    other_config: { "a b": "('x' 'y')", "%": "%.", "'": "\\'" },
    tags: ["", " ", "'", "(", ")"],
  });
  const text = [...dumpDatabase({ db, state })].join("");
  const { tables } = readDump(text);
  for (const { className } of db.tables()) {
    if (className === "message") continue;
    const rows = tables.get(className)!;
    for (const [ref, record] of db.records(className))
      if (!same(rows.get(ref)?.record, record))
        t.strictSame(rows.get(ref)?.record, record, `${className} ${ref}`);
    t.equal(rows.size, db.count(className), className);
  }
  t.match(text, / PV__args="/);
  t.match(text, / memory__static_max="/);
  t.end();
});

function same(one: unknown, other: unknown): boolean {
  const inOrder = (value: unknown) =>
    JSON.stringify(value, (_, member: unknown) =>
      typeof member === "object" && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort())
        : typeof member === "number" && !Number.isFinite(member)
          ? String(member)
          : member,
    );
  return inOrder(one) === inOrder(other);
}

t.test("the dump of a real XAPI is read", (t) => {
  const recordings = new URL(
    "../../../../../shared/xapi/recordings/",
    import.meta.url,
  );
  if (!existsSync(recordings)) {
    t.comment("the recordings are not here");
    return t.end();
  }
  const name = readdirSync(recordings).find(
    (file) => file.startsWith("494-") && file.endsWith(".response"),
  )!;
  const { body } = toAnswer(readFileSync(new URL(name, recordings)));
  const { tables, major } = readDump(body.toString());
  t.equal(major, 5);
  const vms = [...tables.get("VM")!.values()].map(({ record }) => record);
  t.match(
    vms.find((vm) => vm["name_label"] === "tenth vm"),
    {
      HVM_boot_policy: "BIOS order",
      memory_static_max: 1000,
      is_a_template: false,
      other_config: { mac_seed: /^[-0-9a-f]{36}$/ },
      VBDs: [],
    },
  );
  t.end();
});

t.test("a dump is checked with dry_run, and restored without", async (t) => {
  const pool = await startDiskPool(t);
  const { vm, snapshot } = await withSnapshot(pool);
  const vtpm = (await pool
    .call("VTPM.create", vm, false)
    .catch(
      () => (pool.server.pool.database.get("VM", vm)["VTPMs"] as string[])[0],
    )) as string;
  await pool.call("VTPM.set_contents", vtpm, "b25l");
  const { database } = pool.server.pool;
  const { body } = await pool.get("/pool/xmldbdump");
  const before = database.get("VM", vm);
  const { VBDs } = database.get("VM", snapshot);
  await pool.call("VM.set_name_label", vm, "changed");
  await pool.call("VTPM.set_contents", vtpm, "dHdv");
  await pool.call("VM.destroy", snapshot);
  const disk = await pool.createDisk(2 ** 21);
  const dry = await pool.put("/pool/xmldbdump?dry_run=true", body);
  t.equal(dry.status, "success");
  t.equal(database.get("VM", vm)["name_label"], "changed");
  await pool.put("/pool/xmldbdump", body).catch(() => undefined);
  t.strictSame(database.get("VM", vm), {
    ...before,
    current_operations: {},
  });
  t.strictSame(database.get("VM", snapshot)["VBDs"], VBDs);
  t.equal(database.find("VDI", disk), undefined);
  while ((await loggedIn(pool)) === true)
    await new Promise((resolve) => setImmediate(resolve));
  const session = await login(pool);
  t.equal(await contentsOf(pool, session, vtpm), "b25l");
});

async function rpc({ server }: DiskPool, method: string, params: unknown[]) {
  const response = await fetch(`${server.pool.url}/jsonrpc`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return ((await response.json()) as { result: unknown }).result;
}

/** Whether the first session is still good; a restarting coordinator does not answer. */
async function loggedIn(pool: DiskPool): Promise<boolean> {
  try {
    await pool.call("pool.get_all");
    return true;
  } catch (error) {
    return !/SESSION_INVALID/.test(String(error));
  }
}

async function login(pool: DiskPool): Promise<string> {
  const credentials = ["root", "password"];
  return (await rpc(
    pool,
    "session.login_with_password",
    credentials,
  )) as string;
}

const contentsOf = (pool: DiskPool, session: string, vtpm: string) =>
  rpc(pool, "VTPM.get_contents", [session, vtpm]);

t.test("what is not a dump of this pool is refused", async (t) => {
  const pool = await startDiskPool(t);
  const { body } = await pool.get("/pool/xmldbdump");
  const text = body.toString();
  for (const [dump, error] of [
    ["<nothing/>", /RESTORE_SCRIPT_FAILED.*schema_major_vsn/],
    [text.slice(0, -100), /RESTORE_SCRIPT_FAILED.*incomplete/],
    [
      text.replace(
        'schema_major_vsn" value="5"',
        'schema_major_vsn" value="4"',
      ),
      /RESTORE_INCOMPATIBLE_VERSION/,
    ],
    [
      text.replace(/<table name="host">.*?<\/table>/, ""),
      /RESTORE_TARGET_MGMT_IF_NOT_IN_BACKUP/,
    ],
  ] as const) {
    const task = await pool.put("/pool/xmldbdump", Buffer.from(dump));
    t.equal(task.status, "failure");
    t.match(task.error_info.join(" "), error);
  }
});
