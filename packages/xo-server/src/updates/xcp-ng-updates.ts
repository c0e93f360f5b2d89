import { pause } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import {
  advisoriesIn,
  byName,
  type AfterInstallation,
  type MissingPatch,
  type PatchChange,
} from "./missing-patch.js";
import type { InstallParts, UpdateSystem } from "./update-system.js";

const PLUGIN = "updater.py";
const LOOK_EVERY_MS = 10_000;
/**
 * Maximum wait for another run of the plug-in, in ms: yum may download and install
 * for half an hour.
 */
const BUSY_WITHIN_MS = 45 * 60_000;
/**
 * Maximum wait for another check of the plug-in, whose answer may have been lost,
 * in ms. A check takes seconds, with slow mirrors minutes.
 */
const CHECKED_WITHIN_MS = 5 * 60_000;

/** Packages of XCP-ng, by the updater plugin of its hosts. */
export const xcpNgUpdates: UpdateSystem = {
  name: "xcp-ng",
  async list(host, clock) {
    const until = clock.now() + CHECKED_WITHIN_MS;
    for (;;)
      try {
        return readPackages(await check(host))
          .map(toPatch)
          .sort(byName);
      } catch (error) {
        if (!isBusyChecking(error) || clock.now() >= until) throw error;
        await pause(clock, LOOK_EVERY_MS);
      }
  },
  async install(host, { patches }, parts) {
    if (patches === undefined) await update(host, {}, parts);
    // yum gets the argument as one word.
    else
      for (const name of new Set(patches.map(toName)))
        await update(host, { packages: name }, parts);
    await recordInstallation(host, parts);
  },
};

async function check({ xapi, ref }: PoolObject): Promise<string> {
  const params = [ref, PLUGIN, "check_update", {}];
  const only = { idempotent: true };
  return String(await xapi.call("host.call_plugin", params, only));
}

async function update(
  host: PoolObject,
  args: Readonly<Record<string, string>>,
  { objects, clock, signal }: InstallParts,
): Promise<void> {
  const until = clock.now() + BUSY_WITHIN_MS;
  for (;;)
    try {
      const { xapi, ref } = objects.get(host.id, "host");
      const params = [ref, PLUGIN, "update", args];
      checkExit(String(await xapi.callAsync("host.call_plugin", params)));
      return;
    } catch (error) {
      if (!isBusy(error) || clock.now() >= until) throw error;
      if (signal.aborted) throw new XoError("ABORTED", { what: "the update" });
      await pause(clock, LOOK_EVERY_MS, signal);
    }
}

/** Older versions of the plug-in return the output of yum. */
function checkExit(text: string): void {
  const result = parse(text) as Package | null | undefined;
  const exit = result?.["exit"] ?? 0;
  if (exit === 0) return;
  const reason =
    textIn(result!, "stderr") || `yum ended with ${exit as number}`;
  throw new XoError("UNSUPPORTED", { what: "this update", reason });
}

/** Whether another run of the plug-in is in progress. */
function isBusy(error: unknown): boolean {
  return (
    error instanceof XapiError &&
    error.params.some((text) => /is busy|already in progress/i.test(text))
  );
}

/**
 * Whether another check is in progress. An installation takes too long for a list
 * to wait for it.
 */
function isBusyChecking(error: unknown): boolean {
  return (
    isBusy(error) &&
    (error as XapiError).params.some((text) => text.includes("check_update"))
  );
}

/**
 * Records the time of the installation by the clock of the host, to compare it with
 * the start of the host: an earlier start means that it has to be rebooted.
 */
async function recordInstallation(
  host: PoolObject,
  { objects }: InstallParts,
): Promise<void> {
  const { xapi, ref } = objects.get(host.id, "host");
  const key = "rpm_patch_installation_time";
  const now = toSeconds(await xapi.call("host.get_servertime", [ref]));
  await xapi.call("host.remove_from_other_config", [ref, key]);
  await xapi.call("host.add_to_other_config", [ref, key, String(now)]);
}

/** @param time such as 20261123T03:50:00Z */
function toSeconds(time: unknown): number {
  const iso = String(time).replace(
    /^(\d{4})-?(\d\d)-?(\d\d)T/,
    (_, year: string, month: string, day: string) => `${year}-${month}-${day}T`,
  );
  const ms = Date.parse(iso);
  return Math.floor((Number.isNaN(ms) ? Date.now() : ms) / 1000);
}

type Package = Readonly<Record<string, unknown>>;

function readPackages(text: string): Package[] {
  const all = parse(text);
  if (Array.isArray(all))
    return all.filter(
      (one): one is Package => typeof one === "object" && one !== null,
    );
  const reason = "the plugin updater.py returned no list of updates";
  throw new XoError("UNSUPPORTED", { what: "listing missing patches", reason });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The caller reports that the plug-in has not returned JSON.
    return undefined;
  }
}

function textIn(value: Package, name: string): string {
  return typeof value[name] === "string" ? value[name] : "";
}

function toPatch(one: Package): MissingPatch {
  const text = (name: string) => textIn(one, name);
  const [name, version, release] = ["name", "version", "release"].map(text) as [
    string,
    string,
    string,
  ];
  const changelog = toChange(one["changelog"]);
  const advisories = advisoriesIn(changelog?.description ?? "");
  return {
    id: `${name}-${version}-${release}`,
    name,
    description: text("description"),
    version,
    release,
    ...(typeof one["size"] === "number" ? { size: one["size"] } : {}),
    url: text("url"),
    license: text("license"),
    changelog,
    after: afterPackage(name),
    isAfterEstimated: true,
    isSecurity: advisories.length > 0,
    advisories,
  };
}

function toChange(value: unknown): PatchChange | null {
  if (typeof value !== "object" || value === null) return null;
  const change = value as Package;
  return {
    author: textIn(change, "author"),
    description: textIn(change, "description"),
    date: Number(change["date"]) || 0,
  };
}

/** Rules by names of packages, from XCP-ng's documentation. */
const rules: readonly (readonly [RegExp, AfterInstallation])[] = [
  [
    /^(xen-(hypervisor|dom0-libs|libs|livepatch)|kernel|microcode_ctl|amd-microcode|linux-firmware|glibc|systemd|dracut|.*-(module|modules|firmware)(-alt)?$|(broadcom|intel|qlogic|mellanox|chelsio|cisco|emulex|avago|microsemi)-)/,
    "reboot-host",
  ],
  [/^(qemu|seabios|edk2|ovmf|varstored|uefistored)/, "restart-device-model"],
  [/^xcp-ng-pv-tools/, "reboot-vm"],
  [
    /^(xapi|xenopsd|xcp-(networkd|rrdd|featured|clipboardd)|squeezed|forkexecd|message-switch|v6d|vhd-tool|sm(-|$)|blktap|xha|xs-|xenserver-|xcp-ng-(xapi|release)|openssl|stunnel|openvswitch)/,
    "restart-toolstack",
  ],
];

function afterPackage(name: string): AfterInstallation {
  return rules.find(([names]) => names.test(name))?.[1] ?? "nothing";
}

/** The name of a package, which may be given by its id. */
function toName(patch: string): string {
  return patch.replace(/-\d[^-]*-[^-]+$/, "");
}
