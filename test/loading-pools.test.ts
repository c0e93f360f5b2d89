import { setTimeout as pause } from "node:timers/promises";
import { startPool } from "@xo-server/xapi-sim";
import t from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";
import { fixedPort } from "@xo-server/store/conformance";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Answer {
  readonly total?: number;
  readonly count?: number;
  readonly complete?: boolean;
}

t.test("answers are incomplete while a pool is loaded", LIMIT, async (t) => {
  const { api } = await startControlled(t, { hosts: 1, vms: 2, seed: 5 });
  const pages = async () => {
    const page = await api.request("query.page", { type: "VM" });
    const columns = await api.request("query.columns", {
      type: "VM",
      paths: [],
    });
    const counted = { type: "VM", details: true };
    const count = await api.request("query.count", counted);
    const group = await api.request("query.group", { ...counted, by: "$pool" });
    return [page, columns, count, group] as readonly Answer[];
  };
  for (const answer of await pages()) t.match(answer, { complete: undefined });
  const other = await startPool({ hosts: 1, vms: 3, seed: 6 });
  t.teardown(() => other.stop());
  other.faults.set("delay", { value: 2_000, method: "host.get_all_records" });
  const { url: host, user: username, password } = other;
  await api.request("server.add", { host, username, password });
  let seen = 0;
  for (;;) {
    const answers = await pages();
    if (answers.some(({ complete }) => complete === false)) seen++;
    const isComplete = answers.every(
      ({ complete, total, count }) =>
        complete !== false && (total ?? count ?? 0) > 2,
    );
    if (isComplete) break;
    await pause(20);
  }
  t.ok(seen > 0, "while it was listed");
});

t.test(
  "what is unknown may be in a pool that was not reached since the start; what was deleted is missing",
  LIMIT,
  async (t) => {
    const [reached] = await simulate(t, "--hosts", "1", "--vms", "12");
    const { url, password } = reached!;
    const nowhere = `http://127.0.0.1:${await fixedPort()}`;
    const cwd = t.testdir({
      "config.yaml": `pools:
  - { label: A, hosts: ["${url}"], password: ${password} }
  - { label: B, hosts: ["${nowhere}"], password: ${password} }
`,
    });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const at = await server.find(/Web server listening on (http:\S+)/);
    const api = await ApiSession.open(t, at);
    const ready = async () => (await fetch(`${at}/health/ready`)).status;
    while ((await ready()) !== 200) await pause(50);

    const statusOf = async (id: string) =>
      (await api.rest("GET", `/vms/${id}`)).status;
    const unknown = "00000000-0000-4000-8000-000000000000";
    t.equal(await statusOf(unknown), 503, "B may have it");
    const vms = await api.all({ type: "VM", power_state: "Halted" });
    const [id] = vms.map((vm) => vm.id);
    t.equal(await statusOf(id!), 200);
    await api.request("vm.delete", { id });
    t.equal(await statusOf(id!), 404, "it was in A");
    await t.rejects(
      api.request("vm.start", { id: unknown }),
      /OBJECTS_LOADING|has not been loaded/,
    );
  },
);
