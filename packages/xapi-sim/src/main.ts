import { Command, InvalidArgumentError, Option } from "commander";
import { profiles, type ProfileName } from "./fleet/profiles.js";
import type { PoolOptions } from "./pool-options.js";
import { startPool, type SimulatedPool } from "./simulated-pool.js";
import { updateSystems, type UpdateSystem } from "./updates/update-package.js";
import { startFleet } from "./derived/start-fleet.js";
import {
  failureProfiles,
  type FailureProfileName,
} from "./faults/failure-profile.js";

interface Arguments {
  readonly pool: readonly ProfileName[];
  readonly hosts?: number;
  readonly vms?: number;
  readonly derived?: { readonly pools: number; readonly vms: number };
  /** Deprecated name of `derived`. */
  readonly stamped?: Arguments["derived"];
  readonly system?: UpdateSystem;
  readonly seed: number;
  readonly churn: number;
  readonly guestWrites: number;
  readonly failureProfile: FailureProfileName;
  readonly pace: number;
  readonly host: string;
  readonly port: number;
  readonly members: number;
  readonly user: string;
  readonly password: string;
  readonly prepare: readonly ("json" | "xml")[];
  readonly tls?: true;
  readonly legacyJson?: true;
  readonly jsonRpc: boolean;
  readonly json?: true;
  readonly exitWithParent?: true;
}

/** `xapi-sim`: starts pools, prints their addresses, and runs until a signal. */
export async function main(argv: readonly string[]): Promise<void> {
  const args = parse(argv);
  const pools: SimulatedPool[] = [];
  const stop = (): void => {
    void Promise.all(pools.map((pool) => pool.stop())).then(() =>
      process.exit(0),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  if (args.exitWithParent === true) {
    process.stdin.on("end", stop);
    process.stdin.resume();
  }
  const add = (pool: SimulatedPool): void => {
    pools.push(pool);
    if (args.json !== true) process.stdout.write(line(pool));
  };
  const derived = args.derived ?? args.stamped;
  if (derived !== undefined)
    for (const pool of await startFleet({
      ...args,
      ...derived,
      tls: args.tls === true,
    }))
      add(pool);
  else for (const options of toPoolOptions(args)) add(await startPool(options));
  if (args.json === true)
    process.stdout.write(`${JSON.stringify({ pools: pools.map(summary) })}\n`);
}

function parse(argv: readonly string[]): Arguments {
  return new Command("xapi-sim")
    .description("Simulated XAPI pools on the loopback")
    .option(
      "--pool <profile>",
      "A (64 hosts, 5,000 VMs), B (16, 600), C (3, 60) or host (one, bare); may be repeated",
      collectProfile,
      [],
    )
    .option(
      "--derived <pools>x<vms>",
      "many lean pools that cost the memory of one; JSON-RPC only",
      toDerived,
    )
    .addOption(
      new Option("--stamped <pools>x<vms>").argParser(toDerived).hideHelp(),
    )
    .option("--hosts <n>", "hosts of a pool of another size", toInteger)
    .option("--vms <n>", "VMs of a pool of another size", toInteger)
    .option(
      "--system <name>",
      `brand and version of hosts: ${updateSystems.join(", ")}; default: the profile's`,
      toSystem,
    )
    .option("--seed <n>", "the same seed gives the same pools", toInteger, 1)
    .option("--churn <n>", "changes a second in each pool", toInteger, 0)
    .option(
      "--guest-writes <bytes>",
      "what guests write to their disks in a second, in each pool",
      toInteger,
      0,
    )
    .option(
      "--failure-profile <name>",
      "calm; busy: things take longer; flaky: some fail, members come and go",
      toFailureProfile,
      "calm",
    )
    .option("--pace <factor>", "durations times this", toFactor, 1)
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option(
      "--port <n>",
      "of the first pool, the next follow; 0: any",
      toInteger,
      0,
    )
    .option(
      "--members <n>",
      "listeners of members besides the coordinator, no more than hosts",
      toInteger,
      0,
    )
    .option("--user <name>", "who may sign in", "root")
    .option("--password <text>", "with which password", "password")
    .option(
      "--prepare <formats>",
      "listings serialised before the pool is ready: json, xml or json,xml",
      toFormats,
      ["json", "xml"] as const,
    )
    .option("--tls", "HTTPS with a certificate made on the spot")
    .option(
      "--legacy-json",
      "/json as on XenServer 6 and 7: JSON inside XML-RPC",
    )
    .option("--no-json-rpc", "no /jsonrpc, as on old hosts")
    .option("--json", "print one line of JSON when all pools are ready")
    .option("--exit-with-parent", "end when standard input ends")
    .parse([...argv], { from: "user" })
    .opts<Arguments>();
}

function collectProfile(
  text: string,
  before: readonly ProfileName[],
): ProfileName[] {
  if (!Object.hasOwn(profiles, text))
    throw new InvalidArgumentError(
      `There are ${Object.keys(profiles).join(", ")}.`,
    );
  return [...before, text as ProfileName];
}

function toInteger(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("A whole number.");
  return Number(text);
}

function toFailureProfile(text: string): FailureProfileName {
  if (!Object.hasOwn(failureProfiles, text))
    throw new InvalidArgumentError(
      `There are ${Object.keys(failureProfiles).join(", ")}.`,
    );
  return text as FailureProfileName;
}

function toSystem(text: string): UpdateSystem {
  if (!updateSystems.includes(text as UpdateSystem))
    throw new InvalidArgumentError(`There are ${updateSystems.join(", ")}.`);
  return text as UpdateSystem;
}

function toFactor(text: string): number {
  const factor = Number(text);
  if (text === "" || !(factor >= 0 && factor <= 1000))
    throw new InvalidArgumentError("A number from 0 to 1000.");
  return factor;
}

function toDerived(text: string): { pools: number; vms: number } {
  const match = /^(\d+)x(\d+)$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError("Two whole numbers: 100x1000.");
  return { pools: Number(match[1]), vms: Number(match[2]) };
}

function toFormats(text: string): ("json" | "xml")[] {
  const formats = text.split(",").filter((word) => word !== "");
  if (formats.some((word) => word !== "json" && word !== "xml"))
    throw new InvalidArgumentError("json, xml or json,xml.");
  return formats as ("json" | "xml")[];
}

function toPoolOptions(args: Arguments): PoolOptions[] {
  const sized = args.hosts !== undefined || args.vms !== undefined;
  const requested: PoolOptions[] = args.pool.map((profile) => ({ profile }));
  if (sized || requested.length === 0)
    requested.push({
      ...(args.hosts === undefined ? {} : { hosts: args.hosts }),
      ...(args.vms === undefined ? {} : { vms: args.vms }),
    });
  return requested.map((own, i) => ({
    ...args,
    ...own,
    port: args.port === 0 ? 0 : args.port + i,
    seed: args.seed + i,
    legacyJson: args.legacyJson === true,
    noJsonRpc: !args.jsonRpc,
    tls: args.tls === true,
  }));
}

function summary(pool: SimulatedPool): object {
  let objects = 0;
  for (const { className } of pool.database.tables())
    objects += pool.database.count(className);
  const { name, url, urls, user, password } = pool;
  return { name, url, urls, user, password, objects };
}

function line(pool: SimulatedPool): string {
  const { objects } = summary(pool) as { objects: number };
  return `pool ${pool.name} at ${pool.url} (${pool.user}/${pool.password}), ${objects} objects\n`;
}
