import { silentLogger } from "@xo-server/kit";
import {
  createXapi,
  probeHost,
  type Decoder,
  type HostProbe,
  type Xapi,
} from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import {
  createVolatilePoolEndpoints,
  openPoolEndpoints,
} from "../pools/pool-endpoints.js";
import { readPassword } from "../pools/pool-password.js";
import type { PoolSettings } from "../pools/pool-settings.js";
import { toXapiOptions } from "../pools/xapi-options.js";
import { expiryResult } from "./check-certificate.js";
import { failed, ok, warning, type Result } from "./finding.js";
import { ofError, signIn } from "./sign-in.js";

/** Maximum clock difference, in ms: statistics and messages are dated by the clocks of hosts. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Calls that the server makes for administrators, in XAPI's notation of permissions. */
const PERMISSIONS = [
  "vm.start",
  "vm.clean_shutdown",
  "vm.pool_migrate",
  "vm.snapshot",
  "vdi.create",
  "sr.create",
  "network.create",
  "host.disable",
  "host.reboot",
];

interface PoolCheckOptions {
  readonly config: Config;
  readonly decoder: Decoder;
  readonly now: () => number;
}

/** Checks reachability, certificate, clock, version and rights of the account of a pool. */
export async function checkPool(
  settings: PoolSettings,
  options: PoolCheckOptions,
): Promise<Result[]> {
  const { decoder, now } = options;
  const probes = await Promise.all(
    settings.hosts.map((host) =>
      probeHost({
        host,
        decoder,
        ...(settings.proxy === undefined ? {} : { proxy: settings.proxy }),
      }),
    ),
  );
  const results = probes.flatMap((probe) => [
    ofReachability(probe),
    ...ofCertificate(probe, settings, now()),
  ]);
  return [...results, ...(await checkAccount(settings, options))];
}

function ofReachability({ address, error, coordinator }: HostProbe): Result {
  if (error === undefined) return ok(`${address} answers`);
  if (coordinator !== undefined)
    return ok(`${address} answers; the coordinator is ${coordinator}`);
  return failed(
    `${address}: ${error.message}`,
    "check the address, the firewall (port 443), the proxy, and on the host: systemctl status xapi",
  );
}

function ofCertificate(
  { address, certificate }: HostProbe,
  { tls: { trust } }: PoolSettings,
  now: number,
): Result[] {
  if (certificate === undefined) return [];
  const results = [
    expiryResult(`certificate of ${address}`, certificate.validTo, now),
  ];
  if (trust === "insecure")
    results.push(
      warning(
        `the certificate of ${address} is not verified (tls.trust: insecure)`,
        `pin it: trust: fingerprint, fingerprint: ${certificate.fingerprint}`,
      ),
    );
  return results;
}

async function checkAccount(
  settings: PoolSettings,
  { config, decoder, now }: PoolCheckOptions,
): Promise<Result[]> {
  let xapi: Xapi | undefined;
  try {
    const password = await readPassword(settings);
    // Read-only: the stored endpoints are used, nothing is written.
    const known = await openPoolEndpoints(
      config.dataDir,
      settings.id,
      silentLogger,
    );
    const memory = createVolatilePoolEndpoints();
    memory.update(known.endpoints);
    xapi = createXapi(
      toXapiOptions({
        settings,
        password,
        memory,
        config,
        decoder,
        logger: silentLogger,
      }),
    );
    const failure = await signIn(xapi);
    if (failure !== undefined) return [failure];
    return [
      ...(await ofHost(xapi, now)),
      ...(await ofRights(xapi, settings.user)),
    ];
  } catch (error) {
    return [ofError(error)];
  } finally {
    await xapi?.disconnect();
  }
}

async function ofHost(xapi: Xapi, now: () => number): Promise<Result[]> {
  const [pool] = Object.values(
    (await xapi.call("pool.get_all_records")) as Record<
      string,
      { readonly master: string; readonly name_label: string }
    >,
  );
  if (pool === undefined) return [];
  const software = (await xapi.call("host.get_software_version", [
    pool.master,
  ])) as Record<string, string>;
  const begin = now();
  const time = await xapi.call("host.get_servertime", [pool.master]);
  const middle = (begin + now()) / 2;
  const { product_brand: brand = "", product_version: version = "" } = software;
  return [
    ok(`${pool.name_label || "pool"}: ${`${brand} ${version}`.trim()}`),
    clockResult(toTime(time) - middle),
  ];
}

/**
 * Parses a date of XAPI: `20261123T04:20:00Z`.
 * @returns ms since the epoch
 */
function toTime(text: unknown): number {
  const match = /^(\d{4})-?(\d\d)-?(\d\d)T(.*)$/.exec(String(text));
  if (match === null) return NaN;
  const [, year, month, day, time] = match;
  return Date.parse(`${year}-${month}-${day}T${time}`);
}

/** @param differenceMs time by which the clock of the host is ahead of this machine */
function clockResult(differenceMs: number): Result {
  const seconds = Math.round(differenceMs / 1000);
  if (Number.isNaN(seconds)) return ok("the clock could not be read");
  // Times of XAPI have no fractions of seconds.
  return Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS
    ? warning(
        `the clock of the coordinator differs by ${seconds} s`,
        "synchronize both by NTP: statistics, alarms and messages have the times of hosts",
      )
    : ok(`the clock of the coordinator differs by ${seconds} s`);
}

async function ofRights(xapi: Xapi, user: string): Promise<Result[]> {
  const session = await sessionOf(xapi);
  if (session === undefined) return [];
  if ((await xapi.call("session.get_is_local_superuser", [session])) === true)
    return [ok(`the account ${user} is the local superuser`)];
  const permissions = new Set(
    (await xapi.call("session.get_rbac_permissions", [session])) as string[],
  );
  const missing = PERMISSIONS.filter((name) => !permissions.has(name));
  return [
    missing.length === 0
      ? ok(`the account ${user} has the permissions that are needed`)
      : warning(
          `the account ${user} lacks permissions: ${missing.join(", ")}`,
          "grant it the role pool-admin, or expect that these operations fail (pools[].readOnly: true rejects them at once)",
        ),
  ];
}

/** The reference of the session is only available to openers of streams. */
async function sessionOf(xapi: Xapi): Promise<string | undefined> {
  const { url, headers } = await xapi.streamTarget({ path: "/" });
  const text = [url, ...Object.values(headers)].join("\n");
  return /session_id=([^&;\s]+)/.exec(decodeURIComponent(text))?.[1];
}
