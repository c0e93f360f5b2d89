import { setTimeout } from "node:timers/promises";
import { raiseHeapGrowth } from "@xo-server/perf";
import type { FanOutJob } from "./fan-out-job.js";
import { toFeedMessage } from "./feed-message.js";
import { GuestEdits } from "./guest-edits.js";
import { openGuestFleet } from "./guest-fleet.js";
import { readJob, reportFigures } from "./job.js";
import { openSinkSockets } from "./sink-sockets.js";
import { measureWork } from "./stopwatch.js";

/** Longer than the window of the feed: each change is a message of its own. */
const ROUND_MS = 100;

type Send = (message: Buffer) => void;

// The same heap settings as the server.
raiseHeapGrowth();
const job = await readJob<FanOutJob>();
const { catalog, pools } = await openGuestFleet(job.size);
await catalog.follow("VM");
let encodings = 0;
let sent = 0;
let message: Buffer = Buffer.alloc(0);
const edits = new GuestEdits(pools[0]!);
const sends = await openSends();

await change();
const quiet = await measureWork(change);
const stop = subscribe();
await change();
encodings = sent = 0;
const work = await measureWork(change);
stop.forEach((leave) => leave());
const plain = await measureWork(writePlainly);
const perReader = (cpuMs: number) => (cpuMs / job.changes / job.readers) * 1000;
reportFigures({
  ...work,
  encodingsPerChange: encodings / job.changes,
  messagesPerChange: sent / job.changes,
  bytesPerMessage: message.length,
  cpuUsPerReader: perReader(work.cpuMs - quiet.cpuMs),
  plainCpuUsPerReader: perReader(plain.cpuMs),
});

async function openSends(): Promise<Send[]> {
  if (job.hasSockets)
    return (await openSinkSockets(job.readers)).map(
      (socket) => (bytes) => void socket.write(bytes),
    );
  return Array.from({ length: job.readers }, () => () => undefined);
}

function subscribe(): (() => void)[] {
  return sends.map((send) =>
    catalog.feed.subscribe((frame) => {
      message = frame.encoded("bench", (one) => {
        encodings++;
        return toFeedMessage(one);
      });
      sent++;
      send(message);
    }),
  );
}

/** The same bytes to the same readers, without a feed: the lower bound. */
async function writePlainly(): Promise<void> {
  for (let round = 0; round < job.changes; round++) {
    for (const send of sends) send(message);
    await setTimeout(ROUND_MS);
  }
}

async function change(): Promise<void> {
  for (let round = 0; round < job.changes; round++) {
    await pools[0]!.change(edits.next(1));
    await setTimeout(ROUND_MS);
  }
}
