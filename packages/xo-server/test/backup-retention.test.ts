import t from "tap";
import { applyRetention } from "../src/backups/run/apply-retention.js";
import type {
  ArchiveAccess,
  StoredBackup,
} from "../src/backups/run/repository-access.js";

t.test(
  "what the retention deletes is recorded before: a killed server would not know it",
  async (t) => {
    const calls: string[] = [];
    const stored = ["a", "b", "c"].map((backup, order): StoredBackup => ({
      id: `r/${backup}`,
      repository: "r",
      backup,
      job: "job",
      schedule: undefined,
      run: backup,
      time: order + 1,
      order: order + 1,
    }));
    const archives = {
      refresh: () => Promise.resolve(),
      ofVm: () => Promise.resolve(stored),
      remove: (repository: string, ids: readonly string[]) => {
        calls.push(`delete ${ids.join(" ")} from ${repository}`);
        return Promise.resolve();
      },
    } as unknown as ArchiveAccess;
    const apply = (keepLast: number) =>
      applyRetention(
        archives,
        {
          job: "job",
          schedule: undefined,
          vm: "vm",
          repository: "r",
          newest: "c",
          rules: { keepLast },
          timezone: undefined,
        },
        (ids) => {
          calls.push(`begin ${ids.join(" ")}`);
          return Promise.resolve();
        },
      );
    const deleted = await apply(1);
    t.same([...deleted].toSorted(), ["a", "b"]);
    t.match(calls, [/^begin (a b|b a)$/, /^delete (a b|b a) from r$/]);
    t.same(await apply(3), []);
    t.equal(calls.length, 2, "nothing else is recorded or deleted");
  },
);
