import { setTimeout as pause } from "node:timers/promises";
import { startPool } from "@xo-server/xapi-sim";
import t from "tap";
import { startControlled } from "./controlled-pools.js";

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
