import type {
  BackupDisk,
  ChangedBlocks,
  HttpEndpoint,
  NbdServer,
} from "@xo-server/backup";
import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { BackupBody } from "../../jobs/job-body.js";
import { hostWithSrs } from "./host-with-srs.js";
import { sizeOf, type XapiRecord } from "./xapi-objects.js";
import type { SnapshotDisk } from "./vm-snapshots.js";
import type { VmDisk } from "./vm-records.js";

/** How a disk is read. */
type SourceKind = "nbd-changed" | "vhd-delta" | "nbd" | "vhd" | "raw" | "xva";

/** The source from which a worker reads a disk. */
export interface DiskSource {
  readonly kind: SourceKind;
  /** Members of the disk in the order. */
  readonly input: Pick<BackupDisk, "source" | "changedBlocks" | "delta">;
  /** Why better sources are not used. */
  readonly reasons: readonly string[];
}

export interface SourceRequest {
  readonly disk: VmDisk;
  readonly snapshot: SnapshotDisk;
  /** The snapshot of the backup that is the `base` of the order; absent: everything is read. */
  readonly base: SnapshotDisk | undefined;
  /** Why there is no base. */
  readonly noBase?: string | undefined;
  readonly body: Pick<BackupBody, "preferNbd" | "preferCbt">;
}

/** Bytes per bit of the bitmap. */
const GRAIN = 65_536;
/** Maximum size of a disk in VHD format, in bytes. */
const MAX_VHD = 2_040 * 2 ** 30;

/**
 * Chooses the source that requires the least reading.
 * @throws XapiError, XoError of the connection
 */
export async function chooseSource(
  xapi: Xapi,
  request: SourceRequest,
): Promise<DiskSource> {
  const { snapshot, base, noBase, disk } = request;
  const reasons = noBase === undefined ? [] : [noBase];
  const nbd = await nbdSource(xapi, request, reasons);
  if (base !== undefined && nbd !== undefined) {
    const changedBlocks = await changedBlocksOf(xapi, request, reasons);
    if (changedBlocks !== undefined)
      return {
        kind: "nbd-changed",
        input: { source: nbd, changedBlocks },
        reasons,
      };
  }
  const isVhd = disk.size <= MAX_VHD;
  if (base !== undefined && isVhd && hasData(base.record)) {
    const source = await streamSource(xapi, disk, {
      vdi: snapshot.ref,
      format: "vhd",
      base: base.ref,
    });
    return { kind: "vhd-delta", input: { source, delta: true }, reasons };
  }
  if (base !== undefined && !hasData(base.record))
    reasons.push("the data of the last snapshot was destroyed");
  if (nbd !== undefined)
    return { kind: "nbd", input: { source: nbd }, reasons };
  if (!isVhd) reasons.push("the disk is too large for the VHD format");
  const format = isVhd ? "vhd" : "raw";
  const source = await streamSource(xapi, disk, { vdi: snapshot.ref, format });
  return { kind: format, input: { source }, reasons };
}

/** Disks that could not be read from the chosen source. */
interface Replacement {
  /** The snapshot of the VM. */
  readonly vm: Ref;
  readonly reason: string;
}

/**
 * Differences to the last snapshots, which need neither NBD nor changed block tracking, after these have failed;
 * everything of disks without them.
 * @returns in the order of the requests
 * @throws as chooseSource
 */
export async function differencesInstead(
  xapi: Xapi,
  requests: readonly SourceRequest[],
  replacement: Replacement,
): Promise<DiskSource[]> {
  const sources = requests.map(async (request): Promise<DiskSource> => {
    const { disk, snapshot, base } = request;
    if (base === undefined || disk.size > MAX_VHD || !hasData(base.record)) {
      const [whole] = await streamInstead(xapi, [request], replacement);
      return whole!;
    }
    const query = { vdi: snapshot.ref, format: "vhd", base: base.ref } as const;
    const source = await streamSource(xapi, disk, query);
    const input = { source, delta: true } as const;
    return { kind: "vhd-delta", input, reasons: [replacement.reason] };
  });
  return Promise.all(sources);
}

/**
 * Sources without NBD and changed block tracking, after these have failed.
 * @returns in the order of the requests
 * @throws as chooseSource
 */
export async function streamInstead(
  xapi: Xapi,
  requests: readonly SourceRequest[],
  { reason }: Replacement,
): Promise<DiskSource[]> {
  const sources = requests.map(async ({ disk, snapshot }) => {
    const format = disk.size <= MAX_VHD ? "vhd" : "raw";
    const query = { vdi: snapshot.ref, format } as const;
    const source = await streamSource(xapi, disk, query);
    return { kind: format, input: { source }, reasons: [reason] } as const;
  });
  return Promise.all(sources);
}

/**
 * One export of the whole snapshot for all disks (XAPI `GET /export`), if their
 * content cannot be read in another way.
 * @returns in the order of the requests
 * @throws as chooseSource
 */
export async function exportInstead(
  xapi: Xapi,
  requests: readonly SourceRequest[],
  { vm, reason }: Replacement,
): Promise<DiskSource[]> {
  const srs = requests.map(({ disk }) => disk.sr);
  const request = { path: "/export", query: { ref: vm } };
  // The same endpoint for all disks: disks with equal endpoints are read from one export.
  const endpoint = await endpointOf(xapi, srs, request);
  return requests.map(({ snapshot: { uuid: vdi } }) => ({
    kind: "xva",
    input: { source: { type: "stream", format: "xva", vdi, ...endpoint } },
    reasons: [reason],
  }));
}

async function nbdSource(
  xapi: Xapi,
  { snapshot, body }: SourceRequest,
  reasons: string[],
): Promise<BackupDisk["source"] | undefined> {
  if (body.preferNbd === false) {
    reasons.push("NBD is turned off for this job");
    return undefined;
  }
  try {
    const answer = await xapi.call("VDI.get_nbd_info", [snapshot.ref]);
    const all = (Array.isArray(answer) ? answer : []) as XapiRecord[];
    const [first] = all;
    if (first === undefined) {
      reasons.push("no network of the pool is enabled for NBD");
      return undefined;
    }
    return {
      type: "nbd",
      exportName: String(first["exportname"]),
      servers: await Promise.all(
        all.map((one) => toServer(xapi, one, snapshot.ref)),
      ),
    };
  } catch (error) {
    reasons.push(`NBD cannot be used: ${messageOf(error)}`);
    return undefined;
  }
}

/** @throws XoError UNREACHABLE */
async function toServer(
  xapi: Xapi,
  info: XapiRecord,
  vdi: Ref,
): Promise<NbdServer> {
  const server = {
    address: String(info["address"]),
    port: Number(info["port"]),
  };
  const { cert } = info;
  const socketPath = await xapi.nbdSocket({ ...server, vdi });
  return {
    ...server,
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(typeof cert === "string" && cert !== ""
      ? { tls: { certificates: cert } }
      : {}),
  };
}

/** @returns undefined: they are not known; the reason is added to `reasons` */
async function changedBlocksOf(
  xapi: Xapi,
  { base, snapshot, body }: SourceRequest,
  reasons: string[],
): Promise<ChangedBlocks | undefined> {
  if (base === undefined) return undefined;
  if (body.preferCbt === false) {
    reasons.push("changed block tracking is turned off for this job");
    return undefined;
  }
  for (const { record } of [base, snapshot])
    if (record["cbt_enabled"] !== true) {
      reasons.push(
        "changed block tracking was not enabled since the last backup",
      );
      return undefined;
    }
  try {
    const params = [base.ref, snapshot.ref];
    const bitmap = await xapi.call("VDI.list_changed_blocks", params);
    return { bitmap: String(bitmap), grain: GRAIN };
  } catch (error) {
    reasons.push(`changed blocks are not known: ${messageOf(error)}`);
    return undefined;
  }
}

async function streamSource(
  xapi: Xapi,
  disk: VmDisk,
  query: Readonly<Record<string, string>> & { readonly format: "vhd" | "raw" },
): Promise<BackupDisk["source"]> {
  const request = { path: "/export_raw_vdi", query };
  const endpoint = await endpointOf(xapi, [disk.sr], request);
  return { type: "stream", format: query.format, ...endpoint };
}

/** Endpoint on a host that is connected to the SRs. */
async function endpointOf(
  xapi: Xapi,
  srs: readonly Ref[],
  request: {
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
  },
): Promise<HttpEndpoint> {
  const host = await hostWithSrs(xapi, srs);
  const { tls, ...endpoint } = await xapi.streamTarget({
    ...request,
    ...(host === undefined ? {} : { host }),
  });
  return {
    ...endpoint,
    ...(tls === undefined ? {} : { tls: { certificates: tls.certificate } }),
  };
}

/** Enables changed block tracking on a disk. @returns why it cannot be enabled */
export async function enableCbt(
  xapi: Xapi,
  vdi: Ref,
): Promise<string | undefined> {
  try {
    await xapi.call("VDI.enable_cbt", [vdi]);
    return undefined;
  } catch (error) {
    if (!(error instanceof XapiError)) throw error;
    return `changed block tracking cannot be enabled: ${messageOf(error)}`;
  }
}

function hasData(record: XapiRecord): boolean {
  return record["type"] !== "cbt_metadata";
}

/** Why a snapshot cannot be the base of a disk. @returns undefined: it can */
export function baseProblem(
  disk: VmDisk,
  base: SnapshotDisk,
): string | undefined {
  if (base.of !== disk.vdi) return "the disk was replaced";
  if (sizeOf(base.record, "virtual_size") !== disk.size)
    return "the size of the disk has changed";
  if (base.record["SR"] !== disk.sr) return "the disk was moved to another SR";
  return undefined;
}

function messageOf(error: unknown): string {
  if (error instanceof XapiError) return error.code;
  if (error instanceof XoError || error instanceof Error) return error.message;
  return String(error);
}
