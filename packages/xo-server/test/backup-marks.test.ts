import t from "tap";
import {
  readMarks,
  runOfName,
  snapshotName,
  withMarks,
} from "../src/backups/run/marks.js";
import { neededRuns } from "../src/backups/run/settle-snapshots.js";

const marks = {
  job: "j",
  run: "r",
  time: 1_790_000_000_000,
  backups: new Map([["repo", "backup"]]),
  incrementals: 3,
};

t.test("marks of a snapshot are read as they were written", async (t) => {
  const config = withMarks({ other: "x" }, "uuid", marks);
  t.equal(config["other"], "x");
  t.equal(config["xo:backup:backup"], "repo/backup");
  t.same(readMarks(config, "uuid"), marks);
  t.equal(
    readMarks(config, "copy"),
    undefined,
    "a copy is not a snapshot of ours",
  );
  t.same(withMarks(config, "uuid", { ...marks, backups: new Map() }), {
    other: "x",
    "xo:backup:job": "j",
    "xo:backup:run": "r",
    "xo:backup:time": "1790000000000",
    "xo:backup:uuid": "uuid",
  });
});

t.test("the run is found in the name of a snapshot", async (t) => {
  const run = "5f1a1b0e-8c6d-4b7e-9f00-000000000001";
  t.equal(runOfName(snapshotName("nightly (run 1)", run)), run);
  t.equal(runOfName(snapshotName("x".repeat(900), run)), run);
  t.ok(snapshotName("x".repeat(900), run).length <= 250);
  t.equal(runOfName("before the update"), undefined);
});

t.test("only the newest snapshot of each repository is needed", async (t) => {
  const snapshot = (run: string, time: number, ...repositories: string[]) => ({
    marks: {
      ...marks,
      run,
      time,
      backups: new Map(repositories.map((one) => [one, "b"])),
    },
  });
  const all = [
    snapshot("1", 1, "a", "b"),
    snapshot("2", 2, "a", "b"),
    snapshot("3", 3, "a"),
    snapshot("4", 4),
  ];
  const needed = (
    repositories: readonly string[],
    stored: readonly { readonly id: string; readonly order: number }[] = [],
    run = "another",
  ) => [...neededRuns(all, { run, repositories, stored })].toSorted();
  t.same(needed(["a", "b"]), ["2", "3"]);
  t.same(needed(["a"]), ["3"]);
  t.same(needed([]), []);
  t.same(
    needed(["a"], [{ id: "a/b", order: 5 }], "1"),
    ["1"],
    "that of the run that has just ended, if the clock was set back",
  );
});

t.test(
  "the newest snapshot follows the order of the repository if a clock was set back",
  async (t) => {
    const snapshot = (run: string, time: number, backup: string) => ({
      marks: { ...marks, run, time, backups: new Map([["a", backup]]) },
    });
    const all = [snapshot("1", 9, "old"), snapshot("2", 3, "new")];
    const stored = [
      { id: "a/old", order: 9 },
      { id: "a/new", order: 10 },
    ];
    const options = { run: "another", repositories: ["a"] };
    t.same([...neededRuns(all, { ...options, stored })], ["2"]);
    t.same([...neededRuns(all, { ...options, stored: [] })], ["1"]);
  },
);
