import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { BalancedClient } from "./balanced-client.js";
import { toTable } from "./event-client.js";
import { until } from "./lease-owners.js";
import { noBalancerReason } from "./load-balancer.js";
import { PASSWORD } from "./server-group.js";
import { readWatched } from "./watched-rows.js";
import { startBalancedThree } from "./watching-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip =
  noBalancerReason() || (bin === undefined && "PostgreSQL is not installed");

const setUp = (t: Test) => startBalancedThree(t, { bin: bin! });

t.test(
  "watches of a server that leaves and is stopped continue on others, without a change lost or printed twice",
  { skip },
  async (t) => {
    const { group, members, url } = await setUp(t);
    const cwd = t.testdir({});
    const cli = (...args: readonly string[]) =>
      new RunningProgram(t, "xo-cli", args, {
        cwd,
        env: { XO_PASSWORD: PASSWORD },
      });
    await cli("register", url, "admin").ended;
    const columns = ["--fields", "name_label,power_state"];
    const watches = Array.from({ length: 4 }, () =>
      cli("watch", "vm", "--json", ...columns),
    );
    const direct = await BalancedClient.signIn(members[0]!.url);
    await direct.connect(t);
    await until(async () =>
      watches.every((watch) => readWatched(watch).connections === 1),
    );

    const moved = () =>
      watches.filter((watch) => readWatched(watch).connections > 1).length;
    for (const i of [0, 1]) {
      const before = moved();
      const { program } = members[i]!;
      t.equal(await group.run(i, "leave").ended, 0);
      const marks = watches.map(({ lines }) => lines.length);
      const stopped = program.stop("SIGTERM");
      await until(async () => moved() > before);
      t.equal(await stopped, 0);
      for (const [j, { lines }] of watches.entries()) {
        const lost = lines.slice(marks[j]).filter((one) => /"lost"/.test(one));
        t.ok(lost.length <= 1, "one connection was lost at most");
      }
      if (i === 0) {
        t.equal(await direct.query!.closed, 1001, "going away");
        members[0] = await group.start(0);
        const health = `${members[0].url}/health/ready`;
        await until(async () => (await fetch(health)).status === 200);
      }
    }

    await fetch(`${group.pool.url}/sim/churn`, {
      method: "POST",
      body: JSON.stringify({ perSecond: 0 }),
    });
    const client = direct.at(members[2]!.url);
    const path = "/rest/v0/vms?fields=id,name_label,power_state";
    const isSame = async () => {
      const answer = await client.fetch(path);
      const table = toTable((await answer.json()) as never[]).join();
      return watches.every((one) => readWatched(one).table.join() === table);
    };
    await until(isSame);
    for (const watch of watches) {
      t.same(readWatched(watch).doubled, []);
      t.equal(watch.child.exitCode, null, "it continues");
    }
  },
);
