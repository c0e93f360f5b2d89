import t from "tap";
import { FollowedQuery } from "./followed-query.js";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Column {
  readonly values: readonly unknown[];
  readonly indexes?: readonly number[];
  readonly step?: number;
}

interface Answer {
  readonly total: number;
  readonly state: string;
  readonly ids?: readonly string[];
  readonly columns: Readonly<Record<string, Column>>;
}

t.test(
  "metrics of all VMs are sent as columns, later only changed ones",
  LIMIT,
  async (t) => {
    const server = new RunningProgram(t, "xo-server", [
      "start",
      "--demo",
      "C",
      "--host",
      "127.0.0.1",
      "--port",
      "0",
    ]);
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url);
    await page.until(({ pools }) => pools["c"]?.state === "watching");
    const client = await FollowedQuery.connect(t, url);
    const request = async (more: object) =>
      (await client.call("query.columns", { type: "VM", ...more }))
        .result as Answer;
    const paths = ["memory.size", "$pool", "now.cpu"];
    let answer = await request({ paths });
    t.equal(answer.ids?.length, answer.total);
    t.equal(answer.columns["$pool"]?.indexes?.length, answer.total);
    t.equal(answer.columns["$pool"]?.values.length, 1, "one pool");
    const sizes = answer.columns["memory.size"]!;
    t.equal((sizes.indexes ?? sizes.values).length, answer.total);
    t.equal(answer.columns["now.cpu"]?.step, 0.001);

    const figures = () =>
      answer.columns["now.cpu"]?.values.filter((value) => value !== null) ?? [];
    await client.open({
      name: "busiest",
      type: "VM",
      offset: 0,
      limit: 1,
      sort: [{ by: "now.cpu", descending: true }],
      fields: ["now.cpu"],
    });
    await client.until(() => client.rows[0]?.["now"] !== undefined);
    const { total } = answer;
    answer = await request({ paths: ["now.cpu"] });
    t.equal(answer.total, total);
    t.ok(figures().length > 0);
    t.ok(
      figures().every((value) => Number.isInteger(value)),
      "whole thousandths",
    );
    const again = await request({ paths: ["$pool"], known: answer.state });
    t.equal(again.ids, undefined, "the same VMs");
    t.same(Object.keys(again.columns), ["$pool"], "was not requested before");
    t.match(
      await client.call("query.columns", { type: "VM", paths: ["now"] }),
      {
        error: { code: 10 },
      },
    );
    t.equal(await server.stop("SIGTERM"), 0);
  },
);
