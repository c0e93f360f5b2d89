import type { CallContext } from "../../operation.js";
import type { UpdatePackage } from "../../updates/update-package.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";
import { textIn } from "../../records/fields.js";
import { durations } from "../effects/durations.js";

/** How long the plugin waits for its lock before an update. */
const LOCK_MS = 1_000;

/**
 * `updater.py` of XCP-ng: yum on the host, one run at a time
 * [xcp-ng-xapi-plugins: updater.py, operationlocker.py].
 */
export async function callUpdater(
  context: CallContext,
  { host, fn, args }: { host: string; fn: string; args: XapiMap },
): Promise<string> {
  if (fn !== "check_update" && fn !== "update" && fn !== "get_proxies")
    throw new XapiFailure("UNKNOWN_XENAPI_PLUGIN_FUNCTION", [fn]);
  return whileLocked(context, { host, fn }, async () => {
    const { updates } = context.state;
    if (fn === "get_proxies") return "{}";
    if (fn === "check_update") {
      await context.delay(durations.updateCheck);
      return JSON.stringify(updates.missing(host).map(toPackage));
    }
    const names = textIn(args, "packages").split(/[\s,]+/);
    const requested = updates
      .missing(host)
      .filter(({ name }) => names[0] === "" || names.includes(name));
    await context.delay(durations.updateInstallation);
    updates.install(host, requested);
    return JSON.stringify({
      exit: 0,
      stdout:
        requested.length === 0 ? "No packages marked for update" : "Complete!",
      stderr: "",
    });
  });
}

/** Converts an update to the output of the plugin, which has only the properties that yum knows. */
function toPackage({
  name,
  version,
  release,
  description,
  changelog,
  url,
  size,
  license,
}: UpdatePackage): object {
  return {
    name,
    version,
    release,
    description,
    changelog,
    url,
    size,
    license,
  };
}

async function whileLocked(
  { state, delay }: CallContext,
  { host, fn }: { host: string; fn: string },
  run: () => Promise<string>,
): Promise<string> {
  const { plugins } = state.updates;
  const isUpdate = fn === "update";
  if (isUpdate && plugins.get(host) === "update")
    throw pluginError("Update already in progress");
  if (isUpdate && plugins.has(host)) await delay(LOCK_MS);
  const running = plugins.get(host);
  if (running !== undefined)
    throw pluginError(
      `The updater plugin is busy (current operation: ${running})`,
    );
  plugins.set(host, fn);
  try {
    return await run();
  } finally {
    plugins.delete(host);
  }
}

/** XCP-ng's plugins raise `XenAPIPlugin.Failure("-1", ...)`. */
function pluginError(message: string): XapiFailure {
  return new XapiFailure("-1", [
    message,
    "",
    `Traceback (most recent call last):\n  File "/etc/xapi.d/plugins/xcpngutils/__init__.py"\n${message}\n`,
  ]);
}
