import t from "tap";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const LISTENING = /Web server listening on (http:\S+)/;

t.test("a demo pool is loaded and stays live", LIMIT, async (t) => {
  const server = new RunningProgram(t, "xo-server", [
    "start",
    "--demo",
    "C",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
  ]);
  const url = await server.find(LISTENING);
  const page = await StatusPage.open(t, url);
  await server.find(/xen-api root@127\.0\.0\.1\S*: connected/);
  const first = await page.until(
    ({ pools }) => pools["c"]?.state === "watching",
  );
  t.ok(first.server.demo);
  t.match(first.pools["c"], { counts: { VM: Number, host: 3, pool: 1 } });
  t.ok(first.pools["c"]!.loadMs! > 0);
  t.equal(first.totals.objects, first.pools["c"]!.objects);
  await page.until(({ pools }) => pools["c"]!.changesPerSecond > 0);

  t.test("patched rows equal the server's", async (t) => {
    const { followed, subscribed } = await page.compare();
    t.same(followed, subscribed);
  });

  t.test("it is ready, and serves the page", async (t) => {
    t.match(await (await fetch(`${url}/health`)).json(), {
      ready: true,
      draining: false,
      pools: { byState: { watching: 1 } },
    });
    const answer = await fetch(url);
    t.ok(
      answer.status === 200 || /has not been built/.test(await answer.text()),
    );
  });

  t.test("the page's files are compressed and cached", async (t) => {
    const html = await (await fetch(url)).text();
    const [, script] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? [];
    if (script === undefined) return void t.comment("the page is not built");
    for (const [accepted, coding] of [
      ["br, gzip", "br"],
      ["gzip", "gzip"],
      ["identity", null],
    ] as const) {
      const answer = await fetch(`${url}/${script}`, {
        headers: { "accept-encoding": accepted },
      });
      t.equal(answer.headers.get("content-encoding"), coding);
      t.match(answer.headers.get("content-type"), /javascript/);
      t.match(answer.headers.get("cache-control"), /immutable/);
      t.match(await answer.text(), /import|export|const/);
    }
  });

  t.test("SIGTERM logs out and removes all files", async (t) => {
    t.equal(await server.stop("SIGTERM"), 0);
    t.match(server.output, /xen-api root@127\.0\.0\.1\S*: disconnected/);
    t.notMatch(server.output, /error|unhandled|uncaught/i);
    await t.rejects(
      fetch(`http://${first.pools["c"]!.address}/`),
      "the simulator has ended, too",
    );
  });
});
