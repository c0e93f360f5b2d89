import { once } from "node:events";
import { EventEmitter } from "node:events";
import { sql } from "kysely";
import t from "tap";
import { openPostgresEngine } from "../src/engines/postgres-engine.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";

const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

t.test(
  "a server that freezes in a transaction does not hold its locks for long",
  { skip, timeout: 120_000 },
  async (t) => {
    const cluster = new PostgresCluster(bin!);
    t.teardown(() => cluster.remove());
    await cluster.start();
    await cluster.query("postgres", "create database xo");
    await cluster.query("xo", "create table counters (n bigint)");
    await cluster.query("xo", "insert into counters values (0)");
    const [frozen, other] = await Promise.all([
      openPostgresEngine(cluster.url("xo")),
      openPostgresEngine(cluster.url("xo")),
    ]);
    t.teardown(() => Promise.all([frozen.close(), other.close()]));

    const freezing = new EventEmitter();
    const waking = new EventEmitter();
    const woken = once(waking, "wake");
    const frozenChange = frozen.writer.transaction().execute(async (unit) => {
      await sql`update counters set n = n + 1`.execute(unit);
      freezing.emit("frozen");
      await woken;
      await sql`update counters set n = n + 10`.execute(unit);
    });
    const failed = frozenChange.then(
      () => undefined,
      (error: unknown) => error,
    );
    await once(freezing, "frozen");
    await sql`update counters set n = n + 100`.execute(other.writer);

    waking.emit("wake");
    const error = await failed;
    t.equal(frozen.classify(error), "unavailable", "it is not a defect");
    t.same(
      (await cluster.query("xo", "select n from counters")).map(({ n }) =>
        Number(n),
      ),
      [100],
      "what the frozen server had begun is rolled back",
    );
    await sql`update counters set n = n + 1`.execute(frozen.writer);
    t.pass("it connects again");
  },
);
