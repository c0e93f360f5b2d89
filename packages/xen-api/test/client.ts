import type { Test } from "tap";
import type { Logger } from "@xo-server/kit";
import {
  createXapi,
  probeHost,
  type HostProbe,
  type ProbeOptions,
  type Xapi,
  type XapiOptions,
} from "../src/index.js";
import { FakeXapi, poolScript, type FakeScript } from "./fake-xapi.js";
import { createReferenceDecoder } from "./reference-decoder/reference-decoder.js";

export const PASSWORD = 'S3cr3t<&">pass';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly data: object | undefined;
}

/** A logger that collects its lines. */
export function keepingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep = (level: string) => (message: string, data?: object) => {
    lines.push({ level, message, data });
  };
  return {
    lines,
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
  };
}

/** Starts a fake pool that is stopped at the end of the test. */
export async function startPool(
  t: Test,
  script: FakeScript = poolScript(),
  host = "127.0.0.1",
  port = 0,
): Promise<FakeXapi> {
  const pool = await new FakeXapi(script).listen(host, port);
  t.teardown(() => pool.close());
  return pool;
}

/** A client with the reference decoder unless `options` name another; not connected yet. */
export function createClient(
  options: Omit<XapiOptions, "decoder"> & Partial<Pick<XapiOptions, "decoder">>,
): Xapi {
  return createXapi({ decoder: createReferenceDecoder(), ...options });
}

/** Probes a host with the reference decoder. */
export function probe(
  options: Omit<ProbeOptions, "decoder">,
): Promise<HostProbe> {
  return probeHost({ ...options, decoder: createReferenceDecoder() });
}

/** A client of the pool, not connected yet; disconnected at the end of the test. */
export function clientOf(
  t: Test,
  pool: FakeXapi,
  options: Partial<XapiOptions> = {},
): Xapi {
  const xapi = createClient({
    hosts: pool.url,
    user: "root",
    password: PASSWORD,
    transport: "json-rpc",
    ...options,
  });
  t.teardown(() => xapi.disconnect());
  return xapi;
}
