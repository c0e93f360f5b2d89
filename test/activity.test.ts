import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { PASSWORD } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

// Real servers on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Entry {
  readonly seq: number;
  readonly kind: string;
  readonly objectId: string;
  readonly name: string;
  readonly by?: { readonly userName: string; readonly operation: string };
}

t.test("activity has the user who caused it", LIMIT, async (t) => {
  const { api, url } = await startControlled(t, { hosts: 2, vms: 4 });
  const list = async (params: object = {}): Promise<Entry[]> =>
    ((await api.request("activity.list", params)) as { entries: Entry[] })
      .entries;
  const waitForNotification = await follow(t, url);

  let entries = await list();
  while (!entries.some(({ kind }) => kind === "pool.connected"))
    entries = await list();
  t.equal(entries.length, 1, "the first listing is not activity");

  const [vm] = await api.all({ type: "VM", power_state: "Running" });
  await api.request("vm.stop", { id: vm!.id, force: true });
  const snapshot = (await api.request("vm.snapshot", { id: vm!.id })) as string;
  await api.request("vm.delete", { id: snapshot });
  await api.request("vm.set", { id: vm!.id, name_label: "renamed" });

  const seen = (await list({ object: vm!.id })).toReversed();
  t.same(
    seen.map(({ kind, by }) => `${kind} ${by?.userName} ${by?.operation}`),
    [
      "vm.stopped admin vm.stop",
      "snapshot.created admin vm.snapshot",
      "snapshot.removed admin vm.delete",
      "vm.renamed admin vm.set",
    ],
  );
  t.equal(seen.at(-1)!.name, "renamed");
  const metrics = await (await fetch(`${url}/metrics`)).text();
  t.match(metrics, /^xo_activity_limit_entries 20000$/m);

  await api.rest("POST", `/vms/${vm!.id}/actions/start`);
  await waitForNotification(({ method }) => method === "activity");
  await waitForNotification(
    ({ method, params }) =>
      method === "task" &&
      params.update.some(
        ({ status, properties }) =>
          status === "success" && properties.objectId === vm!.id,
      ),
  );
  const tasks = (await api.request("task.list", {
    object: vm!.id,
  })) as object[];
  t.match(tasks[0], { status: "success", properties: { name: String } });
});

interface Notice {
  readonly method?: string;
  readonly params: {
    readonly update: readonly {
      readonly status: string;
      readonly properties: { readonly objectId: string };
    }[];
  };
}

/** @returns waits for a notification */
async function follow(t: Test, url: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
  t.teardown(() => {
    socket.terminate();
  });
  const notices: Notice[] = [];
  let wake: () => void = () => undefined;
  socket.on("message", (data: Buffer) => {
    notices.push(JSON.parse(data.toString()) as Notice);
    wake();
  });
  await new Promise((resolve) => socket.once("open", resolve));
  const calls: [string, object][] = [
    ["session.signIn", { email: "admin", password: PASSWORD }],
    ["activity.subscribe", {}],
    ["task.subscribe", {}],
  ];
  for (const [id, [method, params]] of calls.entries()) {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    while (!notices.some((one) => (one as { id?: number }).id === id))
      await new Promise<void>((resolve) => (wake = resolve));
  }
  return async (test: (notice: Notice) => boolean) => {
    while (!notices.some(test))
      await new Promise<void>((resolve) => (wake = resolve));
    t.pass("notified");
  };
}
