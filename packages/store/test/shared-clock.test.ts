import { openStore } from "@xo-server/store";
import { createBench } from "@xo-server/store/conformance";
import t from "tap";
import { SharedClock } from "../src/engines/shared-clock.js";
import { cheapScrypt } from "./conformance/harness.js";
import { createManualClock } from "./conformance/manual-clock.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";
import { createPostgresHarness } from "./postgres-harness.js";

const DAY_MS = 24 * 3_600_000;
const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

t.test("a clock that follows the database", async (t) => {
  const wall = createManualClock();
  let elapsed = 1_000;
  const clock = new SharedClock(wall, { now: () => elapsed });
  t.equal(clock.now(), wall.now(), "the system's until the first answer");

  clock.correct(500_000, { from: 1_000, to: 1_000 });
  t.equal(clock.now(), 500_000);
  wall.advance(30 * DAY_MS);
  elapsed += 250;
  t.equal(clock.now(), 500_250, "the system clock has no effect");

  clock.correct(500_260, { from: 1_250, to: 1_290 });
  t.equal(clock.now(), 500_250, "a slow answer is not a difference");
  clock.correct(400_000, { from: 1_250, to: 1_250 });
  t.equal(clock.now(), 400_000, "the database decides");
});

t.test(
  "a server whose system clock is wrong expires and deletes nothing of others",
  { skip },
  async (t) => {
    const cluster = new PostgresCluster(bin!);
    t.teardown(() => cluster.remove());
    await cluster.start();
    const bench = await createBench(t, createPostgresHarness(cluster));
    const open = async () => {
      const { location, keyFile } = bench;
      const store = await openStore({
        location,
        key: { file: keyFile },
        create: "always",
        scryptCost: cheapScrypt,
        pollMs: 1e9,
      });
      t.teardown(() => store.close());
      return store;
    };
    const right = await open();
    const user = await right.users.create({ name: "ada", password: "pw" });
    const { text } = await right.tokens.create({ userId: user.id });
    const until = right.clock.now() + 60_000;
    await right.oneTimeUses.use("used", until);

    const systemNow = Date.now;
    t.teardown(() => {
      Date.now = systemNow;
    });
    Date.now = () => systemNow() + 31 * DAY_MS;
    const ahead = await open();
    t.ok(
      Math.abs(ahead.clock.now() - right.clock.now()) < DAY_MS,
      "both have the date of the database",
    );
    t.ok(ahead.tokens.find(text), "the token is valid");
    t.equal(await ahead.tokens.deleteExpired(), 0);
    t.notOk(await ahead.oneTimeUses.use("used", until), "the use is known");
    await right.refresh();
    t.ok(right.tokens.find(text));

    await ahead.refresh();
    const entry = await ahead.audit.append({
      operation: "x",
      outcome: "success",
    });
    t.ok(
      Math.abs(entry.time - right.clock.now()) < DAY_MS,
      "new rows are dated by the database",
    );
  },
);
