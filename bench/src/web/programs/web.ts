import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ApiClient } from "../../api/api-client.js";
import { callXapi } from "../../harness/call-xapi.js";
import { median, percentile, type Figures } from "../../harness/figures.js";
import { toServerConfig } from "../../harness/server-config.js";
import { ServerProcess } from "../../harness/server-process.js";
import { readJob, reportFigures } from "../../measure/job.js";
import { setChurn } from "../../measure/set-churn.js";
import { ListPage } from "../list-page.js";
import type { WebJob } from "../web-job.js";

const PASSWORD = "correct horse battery";
/** How often the list is requested until it is complete, in ms. */
const POLL_MS = 200;
/** Interval between two measurements of the heap. */
const SAMPLE_MS = 10_000;
/** Changes come at any moment of the pool's throttle. */
const PAUSE_MS = 430;

// One server, one browser, and the list of all VMs in it.
const job = await readJob<WebJob>();
const folder = await mkdtemp(join(tmpdir(), "xo-web-"));
const config = join(folder, "config.yaml");
await writeFile(config, toServerConfig(join(folder, "data"), job.pools));
let server = startServer(0);
const url = await server.url;
await untilListed();
const list = await ListPage.open(job.browser, url);
const scriptBytes = await list.firstScriptBytes();
// The first one brings the files of the list, and the server's columns.
const coldMs = await list.signIn(PASSWORD);
const signIns: number[] = [];
for (let i = 0; i < job.visits; i++) signIns.push(await list.signIn(PASSWORD));
const reloads: number[] = [];
for (let i = 0; i < job.visits; i++) reloads.push(await list.reload());
const frames = await list.scroll(job.scrollMs);
const keys = await list.type(job.keystrokes);
const changes = await measureChanges();
const churn = await measureChurn();
const restarts: number[] = [];
for (let i = 0; i < job.restarts; i++) restarts.push(await measureRestart());
await list.close();
await server.stop();
await rm(folder, { recursive: true, force: true });
reportFigures(
  ifMeasured({
    scriptBytes,
    coldMs,
    signInMs: median(signIns),
    slowestSignInMs: Math.max(...signIns),
    reloadMs: median(reloads),
    restartMs: median(restarts),
    framesPerSecond: frames.perSecond,
    frameP95Ms: frames.p95Ms,
    longestFrameMs: frames.longestMs,
    longTasks: frames.longTasks,
    keyMs: median(keys),
    keyP95Ms: percentile(keys, 0.95),
    changeMs: median(changes),
    changeP95Ms: percentile(changes, 0.95),
    ...churn,
  }),
);

/** Omits figures that could not be measured. */
function ifMeasured(figures: Figures): Figures {
  const all = Object.entries(figures);
  return Object.fromEntries(all.filter(([, value]) => Number.isFinite(value)));
}

function startServer(port: number): ServerProcess {
  return new ServerProcess(config, { XO_ADMIN_PASSWORD: PASSWORD }, port);
}

/** Waits until the list has all VMs. */
async function untilListed(): Promise<void> {
  const client = await ApiClient.open(url);
  await client.call("session.signIn", { email: "admin", password: PASSWORD });
  const request = { type: "VM", sort: [{ by: "name_label" }], limit: 1 };
  for (;;) {
    const page = await client.call("query.page", request);
    if ((page as { total: number }).total >= job.vms) break;
    await setTimeout(POLL_MS);
  }
  client.close();
}

/** Restarts the server, and measures the time of a visit as soon as it listens, in ms. */
async function measureRestart(): Promise<number> {
  await server.stop();
  server = startServer(Number(new URL(url).port));
  await server.listening();
  const ms = await list.visitSignedIn();
  await untilListed();
  return ms;
}

/** Measures the time from the response of the pool to the changed row on the page, in ms. */
async function measureChanges(): Promise<number[]> {
  const [pool] = job.pools;
  const { url, user, password } = pool!;
  const session = (await callXapi(url, "session.login_with_password", [
    user,
    password,
    "2.21",
    "xo-bench",
  ])) as string;
  const delays: number[] = [];
  const ids = await list.shownIds();
  for (let i = 0; delays.length < job.changes && i < ids.length; i++) {
    const ref = await callXapi(url, "VM.get_by_uuid", [session, ids[i]!]).catch(
      // Of another pool.
      () => undefined,
    );
    if (ref === undefined) continue;
    const name = (await callXapi(url, "VM.get_name_label", [
      session,
      ref,
    ])) as string;
    const words = `${name} bench-${i}`;
    const shown = list.shownAt(words);
    const changedAt = performance.timeOrigin + performance.now();
    await callXapi(url, "VM.set_name_label", [session, ref, words]);
    delays.push((await shown) - changedAt);
    await setTimeout(PAUSE_MS + (i % 8) * 5);
  }
  return delays;
}

/** Memory of the open list while the pools change. */
async function measureChurn() {
  await setChurn(job.pools, job.changesPerSecond);
  // What comes once is not growth.
  await setTimeout(Math.min(SAMPLE_MS, job.churnMs));
  const samples: [seconds: number, bytes: number][] = [];
  const startedAt = performance.now();
  for (;;) {
    const seconds = (performance.now() - startedAt) / 1000;
    samples.push([seconds, await list.heapBytes()]);
    if (seconds * 1000 >= job.churnMs) break;
    await setTimeout(Math.min(SAMPLE_MS, job.churnMs));
  }
  const frames = await list.scroll(Math.min(3_000, job.churnMs));
  await setChurn(job.pools, 0);
  return {
    heapBytes: samples.at(-1)![1],
    mostHeapBytes: Math.max(...samples.map(([, bytes]) => bytes)),
    heapBytesPerHour: 3600 * slopeOf(samples),
    churnSeconds: samples.at(-1)![0],
    churnFramesPerSecond: frames.perSecond,
    churnLongTasks: frames.longTasks,
  };
}

/** Slope of the least-squares line through the points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (of: 0 | 1) =>
    points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, p) => sum + (p[0] - x) * (p[1] - y), 0);
  const under = points.reduce((sum, p) => sum + (p[0] - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
