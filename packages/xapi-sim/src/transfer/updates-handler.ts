import { XapiFailure } from "../xapi-failure.js";
import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import type {
  UpdateGuidance,
  UpdatePackage,
} from "../updates/update-package.js";

/** The updates of XenServer 8 that were synchronised, and which host needs which. */
export const updatesHandler: HttpHandler = {
  name: "get_updates",
  method: "GET",
  path: "/updates",
  handle: answerUpdates,
};

const guidanceNames: Readonly<Record<UpdateGuidance, string>> = {
  reboot_host: "RebootHost",
  restart_toolstack: "RestartToolstack",
  restart_device_model: "RestartDeviceModel",
  restart_vm: "RestartVM",
};

function answerUpdates(
  { query }: HandlerRequest,
  response: HandlerResponse,
  { db, state }: HandlerContext,
): void {
  const { updates } = state;
  if (updates.syncedHash === "") throw new XapiFailure("NO_REPOSITORY_ENABLED");
  const requested = query.get("host_refs")?.split(";");
  const hosts = [...db.records("host")]
    .map(([ref]) => ref)
    .filter((ref) => requested?.includes(ref) ?? true);
  const needed = new Set<UpdatePackage>();
  const perHost = hosts.map((ref) => {
    const missing = updates.missing(ref);
    for (const one of missing) needed.add(one);
    return {
      ref,
      guidance: toGuidance(missing),
      RPMS: missing.map(
        ({ name, version, release }) =>
          `${name}-${version}-${release}.x86_64.rpm`,
      ),
      updates: missing.map(idOf),
      livepatches: [],
    };
  });
  const body = {
    hosts: perHost,
    updates: [...needed].map(toUpdate),
    hash: updates.syncedHash,
  };
  response.reply({
    version: "1.1",
    headers: [["Content-Type", "application/json"]],
    body: JSON.stringify(body),
  });
}

function toUpdate(one: UpdatePackage): object {
  return {
    id: idOf(one),
    summary: one.description,
    description: one.changelog?.description ?? "",
    "special-info": "",
    URL: one.url,
    type: one.isSecurity === true ? "security" : "bugfix",
    issued: new Date((one.changelog?.date ?? 0) * 1000)
      .toISOString()
      .replace(/[-:]|\.\d+/g, ""),
    severity: one.isSecurity === true ? "High" : "None",
    livepatches: [],
    guidance: toGuidance([one]),
  };
}

function toGuidance(packages: readonly UpdatePackage[]): object {
  const names = packages.flatMap(({ guidance }) =>
    guidance === undefined ? [] : [guidanceNames[guidance]],
  );
  return {
    mandatory: [...new Set(names)],
    recommended: [],
    full: [],
    livepatch: [],
  };
}

function idOf({ name, version, release }: UpdatePackage): string {
  return `${name}-${version}-${release}`;
}
