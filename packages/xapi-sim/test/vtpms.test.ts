import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";

const text = (value: string) => Buffer.from(value).toString("base64");
const vtpmOf = ({ vm }: TestPool, ref: string) =>
  (vm(ref)["VTPMs"] as readonly string[])[0]!;

/** A halted VM with a VTPM that contains "one". */
async function withVtpm(isUnique = false) {
  const pool = createTestPool();
  const vm = pool.guest("Halted");
  for (const vtpm of pool.vm(vm)["VTPMs"] as readonly string[])
    await pool.call("VTPM.destroy", vtpm);
  const vtpm = (await pool.call("VTPM.create", vm, isUnique)) as string;
  await pool.call("VTPM.set_contents", vtpm, text("one"));
  const contents = (ref: string) =>
    pool.call("VTPM.get_contents", vtpmOf(pool, ref));
  return { pool, vm, vtpm, contents };
}

t.test("a VTPM keeps its contents, base64, in a secret", async (t) => {
  const { pool, vm, vtpm, contents } = await withVtpm();
  const secrets = pool.db.count("secret");
  t.equal(await contents(vm), text("one"));
  await pool.call("VTPM.set_contents", vtpm, text("two"));
  t.equal(await contents(vm), text("two"));
  t.equal(pool.db.count("secret"), secrets);
  t.match(await pool.failure("VTPM.set_contents", vtpm, "not base64!"), [
    "INTERNAL_ERROR",
  ]);
  t.notOk("contents" in pool.db.get("VTPM", vtpm));
  await pool.call("VTPM.destroy", vtpm);
  t.equal(pool.db.count("secret"), secrets - 1);
  t.strictSame(pool.vm(vm)["VTPMs"], []);
  t.match(await pool.failure("VTPM.get_contents", vtpm), ["HANDLE_INVALID"]);
});

t.test("a VTPM of the fleet has contents of its own", async (t) => {
  const { db, call } = createTestPool({ vms: 200 });
  const [one, two] = [...db.refs("VTPM")];
  const first = await call("VTPM.get_contents", one!);
  t.ok((first as string).length > 1000);
  t.equal(await call("VTPM.get_contents", one!), first);
  t.not(await call("VTPM.get_contents", two!), first);
});

t.test(
  "snapshots and clones have copies; a revert brings them back",
  async (t) => {
    const { pool, vm, vtpm, contents } = await withVtpm();
    const snapshot = (await pool.call("VM.snapshot", vm, "s", [])) as string;
    const clone = (await pool.call("VM.clone", vm, "c")) as string;
    await pool.call("VTPM.set_contents", vtpm, text("two"));
    t.equal(await contents(snapshot), text("one"));
    t.equal(await contents(clone), text("one"));
    await pool.call("VM.revert", snapshot);
    t.equal(await contents(vm), text("one"));
    t.equal((pool.vm(vm)["VTPMs"] as string[]).length, 1);
    const secrets = pool.db.count("secret");
    await pool.call("VM.destroy", clone);
    t.equal(pool.db.count("secret"), secrets - 1);
  },
);

t.test("of a unique VTPM, a clone has an empty one", async (t) => {
  const { pool, vm, contents } = await withVtpm(true);
  const snapshot = (await pool.call("VM.snapshot", vm, "s", [])) as string;
  const clone = (await pool.call("VM.clone", vm, "c")) as string;
  t.equal(await contents(snapshot), text("one"));
  t.equal(await contents(clone), "");
});

t.test(
  "NVRAM is changed while a VM is halted, and deleted with it",
  async (t) => {
    const pool = createTestPool();
    const vm = pool.guest("Halted");
    await pool.call("VM.set_NVRAM", vm, { "EFI-variables": text("a") });
    const snapshot = (await pool.call("VM.snapshot", vm, "s", [])) as string;
    const clone = (await pool.call("VM.clone", vm, "c")) as string;
    await pool.call("VM.add_to_NVRAM", vm, "other", "b");
    t.strictSame(pool.vm(vm)["NVRAM"], {
      "EFI-variables": text("a"),
      other: "b",
    });
    t.match(await pool.failure("VM.add_to_NVRAM", vm, "other", "b"), [
      "MAP_DUPLICATE_KEY",
    ]);
    await pool.call("VM.remove_from_NVRAM", vm, "other");
    await pool.call("VM.set_NVRAM", vm, { "EFI-variables": text("c") });
    for (const copy of [snapshot, clone])
      t.strictSame(pool.vm(copy)["NVRAM"], { "EFI-variables": text("a") });
    await pool.call("VM.revert", snapshot);
    t.strictSame(pool.vm(vm)["NVRAM"], { "EFI-variables": text("a") });
    const running = pool.guest("Running");
    t.strictSame(await pool.failure("VM.set_NVRAM", running, {}), [
      "VM_BAD_POWER_STATE",
      running,
      "halted",
      "running",
    ]);
    await pool.call("VM.set_NVRAM_EFI_variables", running, text("d"), "");
    t.match(pool.vm(running)["NVRAM"], { "EFI-variables": text("d") });
  },
);
