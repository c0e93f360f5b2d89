import { setTimeout as pause } from "node:timers/promises";
import type { ApiClient } from "../api/api-client.js";
import type { MeasuredServer } from "../api/measured-server.js";
import type { Figures } from "../harness/figures.js";
import {
  operationCalls,
  type MethodInfo,
  type OperationCall,
} from "./operation-calls.js";
import { SampleObjects } from "./sample-objects.js";

export interface MeasuredCall {
  readonly method: string;
  readonly variant: string;
  /** Absent: it succeeded. */
  readonly error?: string;
  readonly runs: readonly Figures[];
}

/** A call that has not ended by then continues; the next one is measured. */
const LIMIT_MS = 10_000;
/** Work that a call leaves behind, such as changes of the mirror. */
const AFTER_MS = 60;
/** Calls with longer blocks are made again: a full collection of garbage may have been another's. */
const SUSPECT_MS = 30;
const TIMES = 3;

/**
 * Calls all operations of a server, one after the other, and measures how long
 * each blocks the main thread of the server.
 * @param only methods that match it
 */
export async function measureOperations(
  server: MeasuredServer,
  {
    only,
    onCall,
  }: {
    readonly only?: RegExp | undefined;
    readonly onCall: (call: MeasuredCall) => void;
  },
): Promise<MeasuredCall[]> {
  const client = await server.connect();
  const samples = await SampleObjects.read(client);
  const infos = (await client.call("system.getMethodsInfo", {})) as Readonly<
    Record<string, MethodInfo>
  >;
  const calls = operationCalls(infos, samples).filter(
    ({ method }) => only?.test(method) ?? true,
  );
  client.close();
  const measured: MeasuredCall[] = [];
  for (const call of calls) {
    const one = await measure(server, call, samples);
    measured.push(one);
    onCall(one);
  }
  return measured;
}

async function measure(
  server: MeasuredServer,
  call: OperationCall,
  samples: SampleObjects,
): Promise<MeasuredCall> {
  const { method, variant } = call;
  const runs: Figures[] = [];
  let error: string | undefined;
  do {
    // A connection of its own: a call may end the session, or never be answered.
    const client = await server.connect();
    const params = call.params();
    await server.begin();
    const startedAt = performance.now();
    try {
      const result = await within(client, method, params);
      samples.learn(method, result);
      error = undefined;
    } catch (caught) {
      error = caught instanceof Error ? caught.message : String(caught);
    }
    const ms = performance.now() - startedAt;
    await pause(AFTER_MS);
    const { cpuMs, longestOwnBlockMs } = await server.end();
    client.close();
    runs.push({ longestOwnBlockMs, cpuMs, ms });
  } while (runs.at(-1)!.longestOwnBlockMs! > SUSPECT_MS && runs.length < TIMES);
  return { method, variant, runs, ...(error === undefined ? {} : { error }) };
}

async function within(
  client: ApiClient,
  method: string,
  params: object,
): Promise<unknown> {
  const abort = new AbortController();
  const late = pause(LIMIT_MS, undefined, abort).then(() => {
    throw new Error(`no answer within ${LIMIT_MS / 1000} s`);
  });
  // The race below reports the first of them; the others may reject later.
  late.catch(() => undefined);
  const closed = new Promise<never>((_, reject) => {
    client.socket.once("close", (code) => {
      reject(new Error(`closed with ${code}`));
    });
  });
  closed.catch(() => undefined); // See above.
  try {
    return await Promise.race([client.call(method, params), late, closed]);
  } finally {
    abort.abort();
  }
}
