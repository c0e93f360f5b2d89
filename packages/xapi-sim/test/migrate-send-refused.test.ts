import t from "tap";
import { guestOf, changesSince, picture } from "./support/two-pools.js";
import { twoPools, mapped } from "./migrated-pools.js";

t.test(
  "a migration that cannot start is refused with its reason, and changes nothing",
  async (t) => {
    const { here, there, places, token } = await twoPools(t);
    const vm = guestOf(here, "Running");
    const before = [picture(here.db), picture(there.db)];
    const fails = async (
      error: RegExp,
      change: (params: unknown[]) => void,
      of = vm,
    ) => {
      for (const message of ["VM.migrate_send", "VM.assert_can_migrate"]) {
        const params = [
          ...mapped(here, of, { ...places, token: { ...token } }),
        ];
        change(params);
        await t.rejects(here.client.call(message, ...params), {
          message: error,
        });
      }
    };
    await fails(/^SESSION_INVALID OpaqueRef:bad/, (params) => {
      params[1] = { ...token, session_id: "OpaqueRef:bad" };
    });
    await fails(/^VM_MIGRATE_CONTACT_REMOTE_SERVICE_FAILED/, (params) => {
      params[1] = { ...token, xenops: "http://127.0.0.1:9/services/xenops" };
    });
    await fails(/^VIF_NOT_IN_MAP /, (params) => {
      params[4] = {};
    });
    await fails(/^HANDLE_INVALID host /, (params) => {
      params[1] = { ...token, host: "OpaqueRef:nobody" };
    });
    await fails(/^HANDLE_INVALID VDI /, (params) => {
      params[3] = { "OpaqueRef:no-disk": places.sr };
    });
    await fails(/^INTERNAL_ERROR Not_found/, (params) => {
      params[1] = {};
    });
    t.strictSame(changesSince(before[0]!, here.db), []);
    t.strictSame(changesSince(before[1]!, there.db), []);
  },
);

t.test(
  "missing resources of the target pool are reported, and nothing is left there",
  async (t) => {
    const { here, there, places, token } = await twoPools(t);
    const vm = guestOf(here, "Running");
    const send = () =>
      here.client.call(
        "VM.migrate_send",
        ...mapped(here, vm, { ...places, token }),
      );
    const metrics = there.db.get("host", places.host)["metrics"] as string;
    const failsWhen = async (
      error: RegExp,
      className: string,
      ref: string,
      patch: Record<string, boolean | number>,
    ) => {
      const record = there.db.get(className, ref);
      const back = Object.fromEntries(
        Object.keys(patch).map((name) => [name, record[name]!]),
      );
      there.db.update(className, ref, patch);
      const before = [picture(here.db), picture(there.db)];
      await t.rejects(send(), { message: error });
      t.strictSame(changesSince(before[0]!, here.db), []);
      t.strictSame(changesSince(before[1]!, there.db), []);
      there.db.update(className, ref, back);
    };
    await failsWhen(/^SR_FULL \d+ \d+/, "SR", places.sr, { physical_size: 1 });
    await failsWhen(/^HOST_DISABLED /, "host", places.host, { enabled: false });
    await failsWhen(/^HOST_NOT_LIVE/, "host_metrics", metrics, { live: false });
    await failsWhen(
      /^HOST_NOT_ENOUGH_FREE_MEMORY \d+ 5$/,
      "host_metrics",
      metrics,
      {
        memory_free: 5,
      },
    );
    const [pbd] = [...there.db.records("PBD")].find(
      ([, record]) =>
        record["SR"] === places.sr && record["host"] === places.host,
    )!;
    await failsWhen(/^VM_REQUIRES_SR /, "PBD", pbd, {
      currently_attached: false,
    });
  },
);

t.test(
  "a passed-through device of the host prevents migration of a running VM",
  async (t) => {
    const { here, places, token } = await twoPools(t);
    const vm = guestOf(here, "Running");
    here.db.create("VUSB", { VM: vm });
    await t.rejects(
      here.client.call(
        "VM.migrate_send",
        ...mapped(here, vm, { ...places, token }),
      ),
      { message: `VM_HAS_VUSBS ${vm}` },
    );
  },
);

t.test("the way must lead to an address of the host", async (t) => {
  const { there, places } = await twoPools(t);
  const [internal] = [...there.db.records("network")].find(
    ([, record]) => (record["PIFs"] as string[]).length === 0,
  )!;
  await t.rejects(
    there.client.call("host.migrate_receive", places.host, internal, {}),
    { message: `HOST_CANNOT_ATTACH_NETWORK ${places.host} ${internal}` },
  );
  const [pif, record] = [...there.db.records("PIF")].find(
    ([, candidate]) =>
      candidate["host"] === places.host &&
      candidate["ip_configuration_mode"] === "None",
  )!;
  await t.rejects(
    there.client.call(
      "host.migrate_receive",
      places.host,
      record["network"],
      {},
    ),
    { message: `PIF_HAS_NO_NETWORK_CONFIGURATION ${pif}` },
  );
});
