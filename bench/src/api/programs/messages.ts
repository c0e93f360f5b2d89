import { median } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { exchangeMessages, type MessageFigures } from "../message-exchange.js";
import { MeasuredServer } from "../measured-server.js";
import { startPlainServer } from "../plain-server.js";

/** Sizes of messages, bytes. */
const SMALL = 100;
const LARGE = 2200;
/** The three variants alternate that many times. */
const ROUNDS = 3;

const titles = {
  calls: "calls and responses",
  oneWay: "notifications to the server",
  baseline: "ws alone, echo",
} as const;

// Calls and responses over one socket, and notifications one way; the same through `ws` alone.
const job = await readJob<ApiJob>();
const server = await MeasuredServer.start(job);
const plain = await startPlainServer();
const figures: Record<string, number> = {};
for (const size of [SMALL, LARGE]) {
  const messages = size === SMALL ? job.scale.messages : job.scale.messages / 4;
  const calls: MessageFigures[] = [];
  const oneWay: MessageFigures[] = [];
  const baseline: MessageFigures[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    calls.push(await exchangeMessages(server, "/api/", { size, messages }));
    oneWay.push(
      await exchangeMessages(server, "/api/", {
        size,
        messages,
        isOneWay: true,
      }),
    );
    baseline.push(await exchangeMessages(plain, "/echo", { size, messages }));
  }
  for (const [name, all] of Object.entries({ calls, oneWay, baseline })) {
    const key = `${size} bytes, ${titles[name as keyof typeof titles]}`;
    figures[`${key}/perSecond`] = median(all.map((one) => one.perSecond));
    figures[`${key}/bytesPerSecond`] = median(
      all.map((one) => one.bytesPerSecond),
    );
    figures[`${key}/serverCpuUs`] = median(all.map((one) => one.serverCpuUs));
    figures[`${key}/clientCpuUs`] = median(all.map((one) => one.clientCpuUs));
    figures[`${key}/longestBlockMs`] = Math.max(
      ...all.map((one) => one.longestBlockMs),
    );
    figures[`${key}/longestOwnBlockMs`] = Math.max(
      ...all.map((one) => one.longestOwnBlockMs),
    );
  }
}
plain.stop();
await server.stop();
reportFigures(figures);
