import t from "tap";
import { FollowedQuery } from "./followed-query.js";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

t.test(
  "a client's copy of a live query equals the server's result",
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
    const window = { type: "VM", sort: [{ by: "name_label" }], limit: 50 };
    await client.open({ name: "vms", offset: 0, ...window });
    t.equal(client.rows.length, Math.min(50, client.total));
    t.equal(client.ownDigest, client.digest, "the first answer");
    const all = client.total;

    await client.until(() => client.patches >= 3);
    t.equal(client.ownDigest, client.digest, "after patches");

    await client.call("query.change", {
      name: "vms",
      filter: "power_state:running",
    });
    await client.until(() =>
      client.rows.every((row) => row["power_state"] === "Running"),
    );
    t.ok(client.total < all);
    t.equal(client.ownDigest, client.digest, "after another filter");

    t.match(await client.call("query.close", { name: "vms" }), {
      result: true,
    });
    const { result: groups } = await client.call("query.group", {
      type: "VM",
      by: "power_state",
    });
    const sum = (groups as { count: number }[]).reduce(
      (n, g) => n + g.count,
      0,
    );
    t.match(await client.call("query.count", { type: "VM" }), { result: sum });
    t.match(await client.call("query.page", { type: "VM", filter: "(" }), {
      error: { code: 10, data: { code: "FILTER_INVALID" } },
    });
    t.match(await client.call("query.page", { type: "Unicorn" }), {
      error: { code: 10 },
    });
    t.equal(await server.stop("SIGTERM"), 0);
  },
);

t.test(
  "objects of real pools are hidden from anonymous clients",
  LIMIT,
  async (t) => {
    const server = new RunningProgram(t, "xo-server", [
      "start",
      "--host",
      "127.0.0.1",
      "--port",
      "0",
    ]);
    const url = await server.find(/Web server listening on (http:\S+)/);
    const client = await FollowedQuery.connect(t, url);
    t.match(await client.call("query.page", { type: "VM" }), {
      error: { code: 2 },
    });
    t.equal(await server.stop("SIGTERM"), 0);
  },
);
